import AssayCore
import AssayCrypto
import AssayKit
import AssayTesting
import Foundation
import Logging
import Testing

@testable import AssayCustomToken

@Suite("Keys of service accounts")
struct ServiceAccountKeyTests {
    private static let email = "signer@example-project.iam.gserviceaccount.com"

    /// What a key file of Google's holds, as far as it is read.
    private func keyFile(_ key: PrivateKey, email: String = Self.email) throws -> [UInt8] {
        let pem = try key.pem().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        let file: JSON = ["type": "service_account", "client_email": .string(email), "private_key": .string(pem)]
        return file.encoded
    }

    /// What is wrong with a section whose only secret is the key file; empty for nothing.
    private func problems(_ json: String, file: [UInt8]? = nil) throws -> [String] {
        let configuration = try JSONDecoder().decode(CustomTokenConfiguration.self, from: Data(json.utf8))
        let app = AppIdentity(
            resource: "projects/1/apps/1:1:web:a", kind: .app, project: ProjectIdentity(number: "1", id: "one"),
            subject: "1:1:web:a")
        let clock = ManualClock().hostClock
        let host = PluginHost(
            clock: clock, store: FailingStore(NoStore()),
            secrets: SecretSource { (reference) throws(SecretError) in
                guard reference.description.isExactly("env:KEY") else { throw SecretError("cannot open \(reference)") }
                return file
            }, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        do throws(ConfigurationError) {
            _ = try CustomTokenProvider(configuration, app: app, host: host)
            return []
        } catch {
            return error.all.map { "\($0.path.count) \($0.message)" }
        }
    }

    /// A store that nobody asks.
    private struct NoStore: StateStore {
        func commit(_ changes: [StateChange]) async throws -> Int? { 0 }
        func get(_ key: StateKey) async throws -> [UInt8]? { nil }
        func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {}
        func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] { [] }
    }

    @Test("A key file says whose it is; an address beside it must be the same, by its bytes")
    func keyFiles() throws {
        let file = try keyFile(.generate(.rsa(bits: 2048)))
        #expect(try problems(#"{"service_accounts": [{"key_file": "env:KEY"}]}"#, file: file).isEmpty)
        let named = #"{"service_accounts": [{"key_file": "env:KEY", "email": "EMAIL"}]}"#
        #expect(try problems(named.replacing("EMAIL", with: Self.email), file: file).isEmpty)
        let other = try problems(named.replacing("EMAIL", with: Self.email.uppercased()), file: file)
        #expect(other == ["3 env:KEY is the key of another account"])
    }

    @Test("A key file in a variable may be in quotation marks or Base64, and its key may have escaped line ends twice")
    func variables() throws {
        let key = try PrivateKey.generate(.rsa(bits: 2048))
        let file = String(decoding: try keyFile(key), as: UTF8.self)
        for text in ["'\(file)'\n", Base64.encode(file.utf8), file.replacing("\\n", with: "\\\\n")] {
            let found = try problems(
                #"{"service_accounts": [{"key_file": "env:KEY"}]}"#, file: Array(text.utf8))
            #expect(found.isEmpty, "\(found)")
        }
    }

    @Test("A key that is no RSA key is refused, since no token of a service account is signed with one")
    func elliptic() throws {
        let file = try keyFile(.generate(.ec(.p256)))
        let found = try problems(#"{"service_accounts": [{"key_file": "env:KEY"}]}"#, file: file)
        #expect(found.count == 1 && found[0].contains("is not an RSA key"))
    }

    @Test(
        "A file that is no key file is refused, and nothing of it is shown",
        arguments: [
            "", "hunter2", "{}", #"{"client_email": "hunter2@example.com"}"#, #"{"private_key": "hunter2"}"#,
            #"{"client_email": 1, "private_key": "hunter2"}"#, #"{"client_email": "a@b", "private_key": "hunter2"}"#,
            #"[{"client_email": "a@b", "private_key": "hunter2"}]"#,
        ])
    func noKeyFile(_ text: String) throws {
        let found = try problems(#"{"service_accounts": [{"key_file": "env:KEY"}]}"#, file: Array(text.utf8))
        #expect(found.count == 1)
        #expect(found.allSatisfy { !$0.contains("hunter2") })
    }

    @Test("A key file that cannot be read says why, and one that is not set says that")
    func unreadable() throws {
        let missing = try problems(#"{"service_accounts": [{"key_file": "env:KEY"}]}"#)
        #expect(missing == ["3 env:KEY is not set"])
        let closed = try problems(#"{"service_accounts": [{"key_file": "file:/a"}]}"#)
        #expect(closed == ["3 cannot open file:/a"])
    }

    @Test(
        "An account that stands there twice is refused, whichever way its key is given, and so is an issuer of its name"
    )
    func twice() throws {
        let key = try PrivateKey.generate(.rsa(bits: 2048))
        let pem = String(decoding: try key.publicKey.pem(), as: UTF8.self).replacing("\n", with: "\\n")
        let entry = "{\"email\": \"\(Self.email)\", \"public_key\": \"\(pem)\"}"
        let accounts = try problems(
            "{\"service_accounts\": [\(entry), {\"key_file\": \"env:KEY\"}]}", file: keyFile(key))
        #expect(accounts == ["2 the account `\(Self.email)` is repeated here"])
        let issuer = "{\"issuer\": \"\(Self.email)\", \"audiences\": [\"a\"], \"jwks\": \"https://keys.example.com/\"}"
        let both = try problems("{\"service_accounts\": [\(entry)], \"issuers\": [\(issuer), \(issuer)]}")
        #expect(both.count == 2 && both.allSatisfy { $0.contains("is repeated here") })
    }

    @Test(
        "The address of an account has an at sign and a length, and is needed where only a key is given",
        arguments: [
            ("\"email\": \"a\",", "e-mail address"), ("\"email\": \"@\",", "e-mail address"),
            ("\"email\": \"\",", "e-mail address"), ("", "expected `email`"),
        ])
    func address(_ email: String, _ words: String) throws {
        let key = try PrivateKey.generate(.rsa(bits: 2048)).publicKey
        let pem = String(decoding: try key.pem(), as: UTF8.self).replacing("\n", with: "\\n")
        let found = try problems("{\"service_accounts\": [{\(email) \"public_key\": \"\(pem)\"}]}")
        #expect(found.count == 1 && found.allSatisfy { $0.contains(words) })
    }

    @Test("Everything that is wrong is told at once")
    func together() throws {
        let json = """
            {"service_accounts": [{"email": "a@b"}, {"key_file": "env:KEY", "certificate": "x"}, {"public_key": "x"}]}
            """
        #expect(try problems(json).count == 3)
    }
}
