import AssayCore
import AssayCrypto
import AssayTestSupport
import AssayTesting
import Foundation
import SwiftOverlayShims
import Testing

@testable import AssayAndroidKey

/// A certificate is found under each name that lists have had for one.
@Suite("Lists of revoked certificates") struct RevocationListTests {
    private func certificate(serial: [UInt8], subjectSerial: String = "") throws -> Certificate {
        let key = try SimulatedKey(.p256)
        let der = try CertificateTemplate(
            serialNumber: serial, issuer: NameTemplate(commonName: "a"), subject: NameTemplate(commonName: "a"),
            notBefore: Instant(seconds: 0), notAfter: Instant(seconds: 4_000_000_000), publicKey: key.subjectPublicKey,
            extensions: [.keyUsage(0x80, unusedBits: 7)], digest: .sha256, signer: key
        ).signed()
        return try Certificate(der: der[...])
    }

    private func list(_ names: String...) throws -> RevocationList {
        let entries = names.map { JSONMember($0, ["status": "REVOKED"]) }
        return try RevocationList(json: JSON.object([JSONMember("entries", .object(entries))]).encoded)
    }

    @Test("Hexadecimal digits, in any case and with zeros before, decimal and negative numbers")
    func forms() throws {
        let low = try certificate(serial: [0x0A, 0xBC])
        for name in ["abc", "ABC", "0abc", "000ABC", "2748"] { #expect(try list(name).lists(low), "\(name)") }
        for name in ["ab", "abcd", "-abc", "2747", "", "0"] { #expect(try !list(name).lists(low), "\(name)") }
        let high = try certificate(serial: [0xF0, 0x01])
        for name in ["f001", "61441", "-fff", "-4095", "-FFF"] { #expect(try list(name).lists(high), "\(name)") }
        #expect(try !list("fff").lists(high))
    }

    @Test("A text of digits can be meant in both ways, and is looked up so")
    func digits() throws {
        #expect(try list("1234").lists(certificate(serial: [0x12, 0x34])))
        #expect(try list("1234").lists(certificate(serial: [0x04, 0xD2])))
    }

    @Test("What is listed is not trusted, whatever its status is")
    func status() throws {
        let suspended = try certificate(serial: [0x77])
        let list = try RevocationList(json: Array(#"{"entries": {"77": {"status": "SUSPENDED"}, "78": {}}}"#.utf8))
        #expect(list.status(of: RevocationList.names(of: suspended)) == .suspended)
        #expect(list.lists(try certificate(serial: [0x78])))
        #expect(RevocationList(encoded: list.encoded) == list)
        #expect(RevocationList(encoded: Array(list.encoded.dropLast())) == nil)
    }

    @Test("Anything else is no list", arguments: ["", "[]", "{}", #"{"entries": []}"#, "{\"entries\": {}"])
    func malformed(_ text: String) {
        #expect(throws: RevocationList.Malformed.self) { try RevocationList(json: Array(text.utf8)) }
    }

    @Test(
        "Google's list is read, with the entry for tests",
        .enabled(if: AndroidFixture.isPresent, Comment(rawValue: SharedFiles.absence)))
    func real() throws {
        let list = try RevocationList(json: SharedFiles.bytes("fixtures/android/revocation/status-snapshot.json"))
        #expect(list.count > 100)
        let test = try RevocationList(json: SharedFiles.bytes("fixtures/android/revocation/google-test-status.json"))
        let serial = try #require(Hex.decode("cc66e9a93713b6e643b26c15879786f7"))
        #expect(test.lists(try certificate(serial: serial)))
        #expect(RevocationList(encoded: list.encoded) == list)
    }

    @Test("A list of megabytes is read, and one that names two lists is none")
    func large() throws {
        let entries = (0..<50_000).map { JSONMember("\(String($0, radix: 16))ffffffffffff", ["status": "REVOKED"]) }
        let json = JSON.object([JSONMember("entries", .object(entries))]).encoded
        #expect(json.count > 1 << 20)
        #expect(try RevocationList(json: json).count == 50_000)
        #expect(throws: RevocationList.Malformed.self) {
            try RevocationList(json: [UInt8](repeating: UInt8(ascii: " "), count: RevocationList.byteLimit + 1))
        }
        #expect(throws: RevocationList.Malformed.self) {
            try RevocationList(json: Array(#"{"entries": {"c": {}}, "entries": {}}"#.utf8))
        }
    }

    @Test("A file is read when it changes; what is no regular file is refused at once")
    func files() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("list-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("status.json").path
        func words(_ path: String) -> String {
            do throws(RevocationList.Malformed) {
                _ = try RevocationFile.read(path, unlessAs: nil)
                return "read"
            } catch {
                return error.description
            }
        }
        #expect(words(path).hasPrefix("\(path) cannot be read: "))
        #expect(words(folder.path) == "\(folder.path) is no regular file")
        #expect(mkfifo(path, 0o600) == 0)
        #expect(words(path) == "\(path) is no regular file")
        try FileManager.default.removeItem(atPath: path)
        try Data(#"{"entries": {"c": {}"#.utf8).write(to: URL(fileURLWithPath: path))
        #expect(words(path).hasPrefix("\(path): the list is not JSON: "))
        try Data(#"{"entries": {"c": {}}}"#.utf8).write(to: URL(fileURLWithPath: path))
        let file = try #require(try RevocationFile.read(path, unlessAs: nil))
        #expect(file.list.count == 1)
        #expect(try RevocationFile.read(path, unlessAs: file.mark) == nil)
        try Data(#"{"entries": {"c": {}, "d": {}}}"#.utf8).write(to: URL(fileURLWithPath: path))
        #expect(try RevocationFile.read(path, unlessAs: file.mark)?.list.count == 2)
    }
}
