import AssayCore
import AssayKit
import AssayTesting
import Foundation
import PaperTrail
import Testing

@Suite("The store paper_trail")
struct PaperTrailTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("paper_trail-\(UUID())")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    @Test("The store keeps every promise of the contract")
    func conformance() async {
        defer { try? FileManager.default.removeItem(at: folder) }
        let suite = StateStoreSuite(PaperTrailStore.self, appendedFiles: [""]) {
            folder.appendingPathComponent("\(UUID()).journal").path
        }
        #expect(await suite.run() == [])
    }

    @Test("A file has one store at a time, and what was cut off is left out")
    func file() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("a.journal").path
        let first = try await PaperTrailStore.open(path, host: StorageHost())
        await #expect(throws: StateStoreOpeningError.self) { try await PaperTrailStore.open(path, host: StorageHost()) }
        try await first.put(StateKey("a", "b"), value: [1], expires: nil)
        await first.close()
        try Data("{\"space\": \"a\", \"na".utf8).append(to: path)
        let second = try await PaperTrailStore.open(path, host: StorageHost())
        #expect(try await second.get(StateKey("a", "b")) == [1])
        await second.close()
        try Data("no change\n".utf8).append(to: path)
        await #expect(throws: StateStoreOpeningError.self) { try await PaperTrailStore.open(path, host: StorageHost()) }
    }
}

extension Data {
    fileprivate func append(to path: String) throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: self)
        try file.close()
    }
}
