import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayTestSupport
import Foundation
import SwiftOverlayShims
import Testing
@testable import AssayServices

@Suite("Master keys in files and variables")
struct MasterKeyTests {
    private static let bytes: [UInt8] = (0..<32).map { $0 &* 7 &+ 130 }

    private func host(_ secret: [UInt8]? = nil) -> StorageHost {
        var host = StorageHost(logger: TestService.silent)
        if let secret { host.secrets = SecretSource { _ in secret } }
        return host
    }

    private static let keys: [[UInt8]] = [
        bytes, Array(Base64.encode(bytes).utf8), Array(Base64.encodeURL(bytes).utf8),
        Array("  \(Hex.encode(bytes)) ".utf8), Array(Hex.encode(bytes).uppercased().utf8),
    ]
    private static let others: [[UInt8]] = [
        Array("correct horse battery staple 12!".utf8), Array(bytes.dropLast()), bytes + [1],
        Array(Base64.encode(bytes.dropLast()).utf8), [], Array(repeating: 200, count: 128),
    ]

    @Test(
        "A key is 32 bytes, or their Base64 or hexadecimal text; anything else is refused without a part of it",
        arguments: keys.map { ($0, true) } + others.map { ($0, false) })
    func forms(secret: [UInt8], isKey: Bool) async throws {
        let expected = try LocalMasterKey(SecretBytes(Self.bytes)).id
        do {
            let key = try await MasterKeyPlace("env:MASTER").open(host(secret))
            #expect(isKey)
            #expect(key.id == expected)
        } catch {
            #expect(!isKey)
            #expect("\(error)".hasPrefix("env:MASTER is no master key"))
        }
    }

    @Test("A file of 32 bytes is read whole, also where it ends with a line end; others may not read it")
    func files() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "master").path
            let bytes = Self.bytes.dropLast(2) + [13, 10]
            try Data(bytes).write(to: URL(filePath: path))
            #expect(chmod(path, 0o600) == 0)
            #expect(
                try await MasterKeyPlace("file:\(path)").open(host()).id == LocalMasterKey(SecretBytes(bytes)).id)
            #expect(chmod(path, 0o644) == 0)
            let error = await #expect(throws: KeyVaultError.self) {
                try await MasterKeyPlace("file:\(path)").open(host())
            }
            #expect(error?.message.contains("chmod") == true, "\(error?.message ?? "")")
            await #expect(throws: KeyVaultError.self) { try await MasterKeyPlace("file:\(path)x").open(host()) }
        }
    }

    @Test("A new key is written for its owner only, never over anything, and is the key that is read then")
    func making() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "master").path
            let place = try MasterKeyPlace("file:\(path)")
            let made = try await place.create(host())
            #expect(try await place.open(host()).id == made.id)
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            let before = try Data(contentsOf: URL(filePath: path))
            let again = await #expect(throws: KeyVaultError.self) { try await place.create(host()) }
            #expect(again?.message == "\(path) exists already: nothing was written")
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
            await #expect(throws: KeyVaultError.self) { try await MasterKeyPlace("env:X").create(host()) }
            await #expect(throws: KeyVaultError.self) {
                try await MasterKeyPlace("file:\(folder.path)/none/x").create(host())
            }
        }
    }

    @Test("A data key unwraps only by the key, for the purpose, and as it was wrapped")
    func wrapping() async throws {
        let key = try LocalMasterKey(SecretBytes(Self.bytes))
        let other = try LocalMasterKey(SecretBytes(Self.bytes.reversed()))
        let data = SecretBytes([UInt8](repeating: 9, count: 32))
        let wrapped = try await key.wrap(data, for: [1])
        #expect(try await key.unwrap(wrapped, for: [1]) == data)
        #expect(try await key.wrap(data, for: [1]) != wrapped)
        await #expect(throws: KeyVaultError.self) { try await key.unwrap(wrapped, for: [2]) }
        await #expect(throws: KeyVaultError.self) { try await other.unwrap(wrapped, for: [1]) }
        await #expect(throws: KeyVaultError.self) { try await key.unwrap(wrapped.dropLast(), for: [1]) }
        await #expect(throws: KeyVaultError.self) { try await key.unwrap([], for: [1]) }
        #expect(throws: KeyVaultError.self) { try LocalMasterKey(SecretBytes([1, 2, 3])) }
    }

    @Test(
        "The name of a key in a token is a URI (RFC 7512) whose attributes are known, and which has no PIN in it",
        arguments: [
            (
                "pkcs11:token=assay;object=a%20b;type=secret-key?module-path=/m.so&pin-source=/p",
                "pkcs11:token=assay;object=a b"
            ),
            ("pkcs11:id=%01%ff?module-path=/m.so&pin-source=env:PIN", "pkcs11:id=01ff"),
            (
                "pkcs11:serial=1;manufacturer=x;model=y;object=z?module-path=/m.so",
                "pkcs11:serial=1;manufacturer=x;model=y;object=z"
            ),
            ("pkcs11:object=x?module-path=/m.so&pin-value=1234", "not as pin-value"),
            ("pkcs11:object=x", "expected ?module-path"), ("pkcs11:token=x?module-path=/m.so", "expected object="),
            ("pkcs11:object=x?module-path=m.so", "absolute path"),
            ("pkcs11:object=%zz?module-path=/m.so", "broken escape"),
            ("pkcs11:object=x;object=y?module-path=/m.so", "given twice"),
            ("pkcs11:object=x;type=private?module-path=/m.so", "type=secret-key"),
            ("pkcs11:object=x;slot-id=3?module-path=/m.so", "'slot-id' is not supported"),
            ("pkcs11:object=x?module-path=/m.so&pin-source=1234", "pin-source is file:PATH"),
            ("pkcs11:object=%ff?module-path=/m.so", "is no text"), ("hunter2", "a master key is named as"),
            ("pkcs11:", "expected ?module-path"), ("", "a master key is named as"),
        ])
    func uris(text: String, expected: String) {
        do throws(KeyVaultError) {
            let place = try MasterKeyPlace(text)
            #expect("\(place)" == expected)
        } catch {
            #expect(error.message.contains(expected), "\(error.message)")
            #expect(!error.message.contains("1234"))
            #expect(!error.message.contains("hunter2"))
        }
    }
}
