import AssayCore
import AssayCrypto
import AssayFleetEngine
import AssayKit
import Testing

/// Members of a key file, and what is said of them.
private let mistakes: [(JSON, String)] = [
    (["type": "authorized_user"], "not a key file"),
    (["client_email": nil], "client_email"),
    (["client_email": 5], "client_email"), (["client_email": "nobody"], "client_email"),
    (["private_key_id": nil], "private_key_id"), (["private_key_id": ""], "private_key_id"),
    (["private_key_id": "a b"], "private_key_id"), (["private_key": nil], "private_key"),
    (["private_key": "-----BEGIN PRIVATE KEY-----\n"], "cannot be used"), (["private_key": ""], "cannot be used"),
]

@Suite("Service accounts")
struct FleetEngineAccountTests {
    @Test("A key file says who signs and by which key")
    func file() throws {
        let file = try TestAccounts.standard.get()
        let account = try file.account()
        #expect(account.email == file.email)
        #expect(account.keyID == file.keyID)
    }

    @Test("A key in PKCS #1 is as good as one in PKCS #8")
    func pkcs1() throws {
        let file = try TestAccounts.standard.get()
        let lines = file.pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        let der = try #require(Base64.decode(lines.joined()))
        // What is before the key itself, for RSA of 2048 bits (RFC 5958, section 2).
        let inner = Base64.encode(der.dropFirst(26))
        let pem = "-----BEGIN RSA PRIVATE KEY-----\n\(wrapped(inner))\n-----END RSA PRIVATE KEY-----\n"
        let account = try FleetEngineAccount(keyFile: file.bytes(["private_key": .string(pem)]))
        let token = try FleetEngineMinter().token(FleetEngineClaims(.server), by: account, at: Instant(seconds: 0))
        #expect(try file.verified(token.text).header.keyID == file.keyID)
    }

    @Test("What lacks something is refused in words, and nothing of it is shown", arguments: mistakes)
    func refused(_ members: JSON, _ expected: String) throws {
        let file = try TestAccounts.standard.get()
        let error = try #require(throws: ConfigurationError.self) {
            try FleetEngineAccount(keyFile: file.bytes(members))
        }
        #expect(error.message.contains(expected), "\(error.message)")
        #expect(!error.message.contains(file.keyID))
    }

    @Test("Keys that cannot sign with RS256 are refused", arguments: [KeyKind.ec(.p256), .ec(.p384)])
    func curves(_ kind: KeyKind) throws {
        let file = try TestAccounts.File("a@example.com", keyID: "k", key: .generate(kind))
        #expect(throws: ConfigurationError.self) { try file.account() }
    }

    @Test("What is no JSON, has a member twice, or is too large is refused")
    func malformed() throws {
        let file = try TestAccounts.standard.get()
        let text = String(decoding: file.bytes(), as: UTF8.self)
        let twice = text.replacing(#""type":"#, with: #""type":"service_account","type":"#)
        let long = file.bytes(["pad": .string(String(repeating: "a", count: 70_000))])
        for bytes in [[], Array("x".utf8), Array(twice.utf8), long] {
            #expect(throws: ConfigurationError.self) { try FleetEngineAccount(keyFile: bytes) }
        }
    }

    private func wrapped(_ text: String) -> String {
        var lines: [Substring] = []
        var rest = text[...]
        while !rest.isEmpty {
            lines.append(rest.prefix(64))
            rest = rest.dropFirst(64)
        }
        return lines.joined(separator: "\n")
    }
}
