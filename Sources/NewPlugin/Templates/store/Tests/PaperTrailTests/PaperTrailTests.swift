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
    func conformance() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let paths = Paths()
        let suite = StateStoreSuite(
            makeStore: { clock in
                let path = folder.appendingPathComponent("\(UUID()).journal").path
                let store = try await PaperTrailStore.open(path, clock: clock)
                await paths.keep(path, of: store)
                return store
            },
            reopen: { store, clock in
                let store = try #require(store as? PaperTrailStore)
                let path = try #require(await paths.path(of: store))
                await store.close()
                return try await PaperTrailStore.open(path, clock: clock)
            })
        #expect(await suite.run() == [])
    }

    @Test("A file has one store at a time, and what was cut off is left out")
    func file() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("a.journal").path
        let first = try await PaperTrailStore.open(path, clock: .system)
        await #expect(throws: StateStoreOpeningError.self) { try await PaperTrailStore.open(path, clock: .system) }
        try await first.put(StateKey("a", "b"), value: [1], expires: nil)
        await first.close()
        try Data("{\"space\": \"a\", \"na".utf8).append(to: path)
        let second = try await PaperTrailStore.open(path, clock: .system)
        #expect(try await second.get(StateKey("a", "b")) == [1])
        await second.close()
        try Data("no change\n".utf8).append(to: path)
        await #expect(throws: StateStoreOpeningError.self) { try await PaperTrailStore.open(path, clock: .system) }
    }
}

/// Where the stores of a suite keep their files.
private actor Paths {
    private var paths: [ObjectIdentifier: String] = [:]

    func keep(_ path: String, of store: PaperTrailStore) { paths[ObjectIdentifier(store)] = path }
    func path(of store: PaperTrailStore) -> String? { paths[ObjectIdentifier(store)] }
}

extension Data {
    fileprivate func append(to path: String) throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: self)
        try file.close()
    }
}
