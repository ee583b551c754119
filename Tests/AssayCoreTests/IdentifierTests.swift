import AssayCore
import AssayKit
import Foundation
import Testing

@Suite("Decision identifiers")
struct DecisionIDTests {
    @Test("The first ten characters are the time, the others are random")
    func layout() {
        let zeros = Randomness { [UInt8](repeating: 0, count: $0) }
        let ones = Randomness { [UInt8](repeating: 0xFF, count: $0) }
        // The example of the ULID specification: 2016-07-30T23:54:10.259Z.
        let now = Instant(milliseconds: 1_469_922_850_259)
        #expect(DecisionID(now: now, randomness: zeros).text == "01ARZ3NDEK0000000000000000")
        #expect(DecisionID(now: now, randomness: ones).text == "01ARZ3NDEKZZZZZZZZZZZZZZZZ")
    }

    @Test("They sort by time, whatever the clock says", arguments: [Int64.min, -1, 0, 1_795_262_400_000, .max])
    func bounds(_ milliseconds: Int64) {
        let text = DecisionID(now: Instant(milliseconds: milliseconds), randomness: .system).text
        #expect(text.utf8.count == 26)
        #expect(
            text
                >= DecisionID(
                    now: Instant(milliseconds: 0), randomness: Randomness { [UInt8](repeating: 0, count: $0) }
                ).text)
    }
}

@Suite("References to secrets")
struct SecretReferenceTests {
    @Test("A reference names a variable or a file, and nothing else is one")
    func forms() {
        #expect(SecretReference("env:NAME")?.place == .environment("NAME"))
        #expect(SecretReference("file:/etc/secret")?.place == .file("/etc/secret"))
        for text in ["", "env:", "file:", "NAME", "ENV:NAME", "https://example.com"] {
            #expect(SecretReference(text) == nil)
        }
    }

    @Test("A file is read without its line end, within bounds")
    func files() throws {
        #expect(throws: SecretError.self) { try SecretSource.system.resolve(SecretReference(.file("/dev/zero"))) }
        #expect(throws: SecretError.self) {
            try SecretSource.system.resolve(SecretReference(.file("/proc/no/such/file")))
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("assay-secret-\(UUID().uuidString)")
        #expect(
            FileManager.default.createFile(
                atPath: file.path, contents: Data("a secret\n".utf8), attributes: [.posixPermissions: 0o600]))
        defer { try? FileManager.default.removeItem(at: file) }
        let line = try SecretSource.system.resolve(SecretReference(.file(file.path)))
        #expect(line == Array("a secret".utf8))
    }

    @Test("A variable that is not set is no secret")
    func variables() throws {
        #expect(try SecretSource.system.resolve(SecretReference(.environment("ASSAY_NEVER_SET"))) == nil)
        #expect(try SecretSource.system.resolve(SecretReference(.environment("PATH")))?.isEmpty == false)
    }
}
