import AssayCore
import AssayKit
import AssayTesting
import Foundation
import Testing

/// What a store claims, and what it does to its callers.
@Suite("The suite of stores looks at claims, files and threads")
struct StoreClaimsTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("flawed-\(UUID())")

    private func lines<Wrong: FileFlaw>(
        _ wrong: Wrong.Type, appendedFiles: [String]? = [""]
    ) async throws -> [ConformanceReport.Line] {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let suite = StateStoreSuite(FlawedFileStore<Wrong>.self, appendedFiles: appendedFiles) {
            folder.appendingPathComponent("\(UUID())").path
        }
        return await PromiseSuite("flawed", version: "", suite.adapted(manyEntries: 200)).report(.quick).lines
    }

    private func failed(_ lines: [ConformanceReport.Line]) -> [String] { lines.filter(\.isFailed).map(\.check) }

    @Test("A file that is appended to rightly keeps every promise")
    func right() async throws {
        let lines = try await lines(NoFlaw.self)
        #expect(failed(lines) == [], "\(lines)")
        let overlooked = lines.filter { $0.notLookedAt != nil }.map(\.check)
        #expect(overlooked == ["sharing"])
        // Without a word about its files, the report says that nobody looked.
        let less = try await self.lines(NoFlaw.self, appendedFiles: nil)
        #expect(less.first { $0.check == "torn-files" }?.notLookedAt?.contains("appendedFiles") == true)
    }

    @Test("A torn file that is taken for a whole one is found, also one that is refused, or loses what was there")
    func torn() async throws {
        #expect(failed(try await lines(LinePerChange.self)) == ["torn-files"])
        #expect(failed(try await lines(TakesTornLine.self)) == ["torn-files"])
        #expect(failed(try await lines(RefusesTornFile.self)) == ["torn-files"])
        #expect(failed(try await lines(DropsTheLastLine.self)) == ["torn-files"])
    }

    @Test("A claim of durability that is not so is found")
    func durability() async throws {
        for failed in [failed(try await lines(WritesAtClose.self)), failed(try await lines(WritesLate.self))] {
            #expect(failed.contains("durability") && !failed.contains("reopening"), "\(failed)")
        }
        let lines = try await lines(WritesNothing.self)
        #expect(failed(lines).contains("durability") && failed(lines).contains("reopening"))
        #expect(lines.first { $0.check == "power-loss" }?.notLookedAt?.contains("loses its power") == true)
        // Nobody showed how to open it again.
        let folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let unproven = StateStoreSuite { clock in
            try await FlawedFileStore<NoFlaw>.open(
                folder.appendingPathComponent("\(UUID())").path, host: StorageHost(clock: clock))
        }
        #expect(Set(await unproven.adapted(manyEntries: 200).run().map(\.promise)) == ["reopening"])
    }

    @Test("A claim of sharing that is not so is found")
    func sharing() async throws {
        #expect(failed(try await lines(IsAlone.self)) == ["sharing"])
        #expect(failed(try await lines(SharesEntriesOnly.self, appendedFiles: nil)).contains("sharing"))
    }

    @Test(
        "A store that blocks its callers and says that it never does is found",
        arguments: [
            (StalledStore.Way.sleeps, ["never-blocks"]), (.waitsForAnotherThread, ["never-blocks"]),
            (.blocksAndSaysSo, []),
        ])
    func blocking(way: StalledStore.Way, promises: [String]) async {
        let suite = StateStoreSuite { StalledStore(way, clock: $0) }.adapted(manyEntries: 200)
        #expect(Set(await suite.run().map(\.promise)) == Set(promises))
    }

    @Test(
        "A store that never answers ends in a failed line, and the other lines come",
        arguments: [StalledStore.Way.neverAnswers, .blocksForEver])
    func hanging(way: StalledStore.Way) async {
        let suite = StateStoreSuite { StalledStore(way, clock: $0) }.adapted(manyEntries: 200, silence: .seconds(10))
        let lines = await PromiseSuite("stalled", version: "", suite).report(.quick).lines
        #expect(failed(lines) == ["replacement"])
        guard case .failed(let findings)? = lines.first(where: \.isFailed)?.outcome else { return }
        #expect(findings == ["hangs: `get` did not end within 10 seconds"])
        #expect(lines.count == 31)
    }
}
