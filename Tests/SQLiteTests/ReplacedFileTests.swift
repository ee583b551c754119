import AssayCore
import AssayKit
import Foundation
import Testing

@testable import AssaySQLite

@Suite("A state file that is lost while it is in use")
struct ReplacedFileTests {
    private let folder: TemporaryFolder
    private let path: String
    private let store: SQLiteStore

    init() async throws {
        folder = try TemporaryFolder()
        path = folder.file()
        store = try SQLiteStore(path: path, clock: .system)
        #expect(try await store.insert(StateKey("s", "before"), value: [1], expires: nil))
        #expect(store.blockingReason == nil)
    }

    /// The code of the error that an operation throws; nil when it succeeds.
    private func code(_ operation: () async throws -> Void) async -> SQLiteStoreError.Code? {
        do {
            try await operation()
            return nil
        } catch {
            return (error as? SQLiteStoreError)?.code
        }
    }

    /// What every operation says, and what the store says of itself once its last finding is old.
    private func expectLost(_ words: String) async throws {
        #expect(await code { _ = try await store.insert(StateKey("s", "a"), value: [], expires: nil) } == .replaced)
        #expect(await code { try await store.put(StateKey("s", "a"), value: [], expires: nil) } == .replaced)
        #expect(await code { _ = try await store.advance(StateKey("s", "a"), to: 1) } == .replaced)
        #expect(await code { _ = try await store.get(StateKey("s", "before")) } == .replaced)
        #expect(await code { _ = try await store.list("s", after: nil, limit: 1) } == .replaced)
        for _ in 0..<1000 where store.blockingReason == nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(store.blockingReason?.contains(words) == true)
    }

    @Test("removed: nothing is written or read any more, until the same file is back", .timeLimit(.minutes(20)))
    func removed() async throws {
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        try await expectLost("was removed")
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        #expect(try await store.get(StateKey("s", "before")) == [1])
        #expect(try await store.insert(StateKey("s", "a"), value: [], expires: nil), "what failed had no effect")
        for _ in 0..<1000 where store.blockingReason != nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(store.blockingReason == nil)
    }

    @Test("replaced by a copy of itself", .timeLimit(.minutes(20)))
    func replaced() async throws {
        try FileManager.default.copyItem(atPath: path, toPath: path + ".copy")
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: path + ".copy", toPath: path)
        try await expectLost("was replaced")
    }

    @Test("its write-ahead log removed", .timeLimit(.minutes(20)))
    func log() async throws {
        try FileManager.default.removeItem(atPath: path + "-wal")
        try await expectLost("-wal was re")
    }

    @Test("A log that is lost after an end without closing is found at the start; a copy of what is left can be used")
    func lostLog() async throws {
        let folder = try TemporaryFolder()
        let lost = StateKey("s", "used")
        let store = try SQLiteStore(path: folder.file(), clock: .system)
        #expect(try await store.insert(lost, value: [1], expires: nil))
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: folder.file() + suffix, toPath: folder.file("killed") + suffix)
        }
        await store.close()
        let killed = folder.file("killed")
        try FileManager.default.removeItem(atPath: killed + "-wal")
        for _ in 0..<2 {
            #expect(openingError(killed)?.code == .corrupt)
            let found = try await SQLiteStore.examine(killed)
            #expect(found.problems.count == 1 && found.problems[0].contains("-wal is missing or empty"))
            #expect(!FileManager.default.fileExists(atPath: killed + "-wal"))
        }
        // It leaves an empty log, as other programs do that look at the file.
        try await SQLiteStore.copy(killed, to: folder.file("copy"), adding: [:])
        #expect(try FileManager.default.attributesOfItem(atPath: killed + "-wal")[.size] as? Int == 0)
        #expect(openingError(killed)?.code == .corrupt)
        #expect(try await SQLiteStore.examine(killed).problems.count == 1)
        // A copy, and a file that was closed, are whole without a log, wherever they are moved.
        for (file, value) in [(folder.file("copy"), nil), (folder.file(), [1] as [UInt8]?)] {
            for round in 0..<2 {
                let path = "\(file)-\(round)"
                #expect(!FileManager.default.fileExists(atPath: file + "-wal"))
                try FileManager.default.copyItem(atPath: file, toPath: path)
                #expect(try await SQLiteStore.examine(path).problems.isEmpty)
                let moved = try SQLiteStore(path: path, clock: .system)
                #expect(try await moved.get(lost) == value)
                await moved.close()
                #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
            }
        }
    }

    @Test("A log next to a file that has none is not applied, and neither is changed")
    func logOfAnother() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: folder.file(), clock: .system)
        #expect(try await store.insert(StateKey("s", "early"), value: [1], expires: nil))
        try await SQLiteStore.copy(folder.file(), to: folder.file("copy"), adding: [:])
        for name in ["copy-wal", "lone-wal", "empty-wal", "log"] {
            try FileManager.default.copyItem(atPath: folder.file() + "-wal", toPath: folder.file(name))
        }
        #expect(FileManager.default.createFile(atPath: folder.file("empty"), contents: nil))
        #expect(try await store.insert(StateKey("s", "late"), value: [1], expires: nil))
        await store.close()
        try FileManager.default.moveItem(atPath: folder.file("log"), toPath: folder.file() + "-wal")
        for (name, words) in [
            ("copy", "is not its own"), ("state.sqlite", "is not its own"), ("lone", "is missing or empty, and its"),
            ("empty", "is missing or empty, and its"),
        ] {
            let files = [folder.file(name), folder.file(name) + "-wal"]
            let before = files.map { FileManager.default.contents(atPath: $0) }
            for _ in 0..<2 {
                let error = openingError(folder.file(name))
                #expect(error?.code == .corrupt && error?.message.contains(words) == true, "\(error as Any)")
            }
            if name == "copy" || name == "state.sqlite" {
                #expect(try await SQLiteStore.examine(folder.file(name)).problems.count == 1)
            }
            await #expect(throws: StateStoreOpeningError.self) {
                try await SQLiteStore.copy(folder.file(name), to: folder.file("mixture"), adding: [:])
            }
            #expect(!FileManager.default.fileExists(atPath: folder.file("mixture")))
            #expect(files.map { FileManager.default.contents(atPath: $0) } == before)
        }
        try FileManager.default.removeItem(atPath: folder.file() + "-wal")
        let last = try SQLiteStore(path: folder.file(), clock: .system)
        #expect(try await last.get(StateKey("s", "late")) == [1])
        await last.close()
    }

    @Test("A symbolic link leads to the log as well; a file with a second name is refused")
    func names() async throws {
        let folder = try TemporaryFolder()
        let (link, second) = (folder.file("link"), folder.file("second"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "state.sqlite")
        do {
            let released = try SQLiteStore(path: folder.file(), clock: .system)
            #expect(try await released.insert(StateKey("s", "1"), value: [], expires: nil))
        }
        #expect(try await SQLiteStore.examine(link).problems == [])
        let linked = try SQLiteStore(path: link, clock: .system)
        #expect(try await linked.get(StateKey("s", "1")) == [])
        #expect(try await linked.insert(StateKey("s", "2"), value: [], expires: nil))
        try FileManager.default.linkItem(atPath: folder.file(), toPath: second)
        #expect(openingError(second)?.message.contains("has 2 names") == true)
        #expect(openingError(folder.file())?.message.contains("has 2 names") == true)
        try FileManager.default.removeItem(atPath: second)
        await linked.close()
        #expect(!FileManager.default.fileExists(atPath: folder.file() + "-wal"))
    }

    @Test("The last store that is closed makes the file whole without its log; one that is released leaves the log")
    func lastOne() async throws {
        let folder = try TemporaryFolder()
        let log = folder.file() + "-wal"
        let first = try SQLiteStore(path: folder.file(), clock: .system)
        let second = try SQLiteStore(path: folder.file(), clock: .system)
        #expect(try await first.insert(StateKey("s", "1"), value: [], expires: nil))
        #expect(try await second.get(StateKey("s", "1")) == [])
        await first.close()
        #expect(FileManager.default.fileExists(atPath: log))
        #expect(try await second.insert(StateKey("s", "2"), value: [], expires: nil))
        #expect(second.blockingReason == nil)
        await second.close()
        #expect(!FileManager.default.fileExists(atPath: log))
        try await { () async throws in
            let released = try SQLiteStore(path: folder.file(), clock: .system)
            #expect(try await released.insert(StateKey("s", "3"), value: [], expires: nil))
            #expect(try await released.get(StateKey("s", "3")) == [])
        }()
        #expect(FileManager.default.fileExists(atPath: log))
        try await SQLiteStore.copy(folder.file(), to: folder.file("copy"), adding: [:])
        #expect(FileManager.default.fileExists(atPath: log))
        let before = [folder.file(), log].map { FileManager.default.contents(atPath: $0) }
        let reader = try SQLiteStore(path: folder.file(), clock: .system)
        #expect(try await reader.get(StateKey("s", "3")) == [])
        await reader.close()
        #expect([folder.file(), log].map { FileManager.default.contents(atPath: $0) } == before)
        let last = try SQLiteStore(path: folder.file(), clock: .system)
        for name in ["1", "2", "3"] { #expect(try await last.get(StateKey("s", name)) == []) }
        #expect(try await last.insert(StateKey("s", "4"), value: [], expires: nil))
        await last.close()
        #expect(!FileManager.default.fileExists(atPath: log))
    }

    @Test("A file of a former version, which removed its log at the end, is used, and noted as one whose log stays")
    func formerVersion() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: folder.file(), clock: .system)
        #expect(try await store.insert(StateKey("s", "1"), value: [], expires: nil))
        await store.close()
        do {
            let former = try Connection(foreign: folder.file())
            try former.execute("DROP TABLE kept_log; PRAGMA journal_mode = WAL; CREATE TABLE t (a); DROP TABLE t")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file() + "-wal"))
        let reopened = try SQLiteStore(path: folder.file(), clock: .system)
        #expect(try await reopened.get(StateKey("s", "1")) == [])
        try FileManager.default.copyItem(atPath: folder.file(), toPath: folder.file("killed"))
        #expect(openingError(folder.file("killed"))?.code == .corrupt)
        await reopened.close()
    }

    @Test("A log of another state of the file is found at the start, and nothing is served from the mixture")
    func foreignLog() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file()
        // Two states of one file, whose pages lie elsewhere, each with a log of its own.
        for (name, range) in [("old", 0..<400), ("new", 10_000..<10_400)] {
            let store = try SQLiteStore(path: folder.file(name), clock: .system)
            for number in range {
                try await store.put(
                    StateKey("s", "\(number)"), value: [UInt8](repeating: 7, count: number % 3000), expires: nil)
            }
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(
                    atPath: folder.file(name) + suffix, toPath: folder.file(name) + ".kept" + suffix)
            }
            await store.close()
            // The whole file without its log.
            try FileManager.default.copyItem(atPath: folder.file(name), toPath: folder.file(name) + ".whole")
        }
        try FileManager.default.copyItem(atPath: folder.file("old.whole"), toPath: path)
        try FileManager.default.copyItem(atPath: folder.file("new.kept-wal"), toPath: path + "-wal")
        // A part of the log's pages: as many as it takes for those of both to be mixed.
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path + "-wal"))
        let size = try handle.seekToEnd()
        try handle.truncate(atOffset: size / 3)
        try handle.close()
        #expect(openingError(path)?.code == .corrupt)
    }

    @Test("A log of a later state is found, too, where every table still begins as it should")
    func laterLog() async throws {
        let folder = try TemporaryFolder()
        func write(_ name: String, _ count: Int) async throws -> SQLiteStore {
            let store = try SQLiteStore(path: folder.file(), clock: .system)
            for number in 0..<count {
                try await store.put(
                    StateKey("s", "\(name)\(1000 + number)"), value: [UInt8](repeating: 7, count: 200), expires: nil)
            }
            return store
        }
        try await write("a", 200).close()
        try FileManager.default.copyItem(atPath: folder.file(), toPath: folder.file("old"))
        // Pages that are neither in the old file nor in the log.
        try await write("m", 200).close()
        let last = try await write("z", 60)
        try FileManager.default.copyItem(atPath: folder.file() + "-wal", toPath: folder.file("old") + "-wal")
        await last.close()
        #expect(openingError(folder.file("old"))?.code == .corrupt)
    }

    @Test("A missing table is damage, and is named")
    func missingTable() async throws {
        let path = folder.file("other")
        try await SQLiteStore(path: path, clock: .system).close()
        let foreign = try Connection(foreign: path)
        try foreign.execute("DROP TABLE counter")
        let error = openingError(path)
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("'counter'") == true)
    }
}

@Suite("Copies of a state file")
struct CopyTests {
    @Test("A copy holds what is in the log alone, is for its owner, and takes no other file's place")
    func copy() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: folder.file(), clock: .system)
        #expect(try await store.insert(StateKey("s", "a"), value: [1], expires: nil))
        #expect(try await store.advance(StateKey("s", "c"), to: 9))
        let mark = [StateKey("mark", "m"): [UInt8(7)]]
        try await SQLiteStore.copy(folder.file(), to: folder.file("it's a copy"), adding: mark)
        #expect(try folder.permissions("it's a copy") == 0o600)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                "it's a copy", "state.sqlite", "state.sqlite-shm", "state.sqlite-wal",
            ])
        // What is used later is not in it.
        #expect(try await store.insert(StateKey("s", "later"), value: [1], expires: nil))
        await #expect(throws: StateStoreOpeningError.self) {
            try await SQLiteStore.copy(folder.file(), to: folder.file("it's a copy"), adding: [:])
        }
        let copy = try SQLiteStore(path: folder.file("it's a copy"), clock: .system)
        #expect(try await copy.get(StateKey("s", "a")) == [1])
        #expect(try await copy.get(StateKey("s", "later")) == nil)
        #expect(try await copy.advance(StateKey("s", "c"), to: 9) == false)
        #expect(try await copy.get(StateKey("mark", "m")) == [7])
        #expect(try await store.get(StateKey("mark", "m")) == nil)
    }

    @Test("Where there is nothing, nothing is made")
    func nothing() async throws {
        let folder = try TemporaryFolder()
        await #expect(throws: StateStoreOpeningError.self) {
            try await SQLiteStore.copy(folder.file(), to: folder.file("copy"), adding: [:])
        }
        await #expect(throws: StateStoreOpeningError.self) { _ = try await SQLiteStore.examine(folder.file()) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("A sound file is told from one with a damaged page, and from one that is no database")
    func examination() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: folder.file(), clock: .system)
        for number in 0..<500 {
            try await store.put(StateKey("s", "\(number)"), value: [UInt8](repeating: 1, count: 200), expires: nil)
        }
        let sound = try await SQLiteStore.examine(folder.file())
        #expect(sound.problems.isEmpty)
        #expect(sound.contents.first == "500 entries, 0 counters")
        await store.close()
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: folder.file()))
        try handle.seek(toOffset: 4096 * 6)
        try handle.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        try handle.close()
        #expect(try await !SQLiteStore.examine(folder.file()).problems.isEmpty)
        _ = try folder.write(Array("this is no database, but long enough to be asked".utf8), to: "none")
        #expect(try await SQLiteStore.examine(folder.file("none")).problems.first?.contains("not an SQLite") == true)
    }

    @Test("One problem alone is one as well")
    func oneProblem() async throws {
        let folder = try TemporaryFolder()
        try await SQLiteStore(path: folder.file(), clock: .system).close()
        let foreign = try Connection(foreign: folder.file())
        try foreign.execute(
            "PRAGMA ignore_check_constraints = ON; INSERT INTO counter VALUES (x'73', x'63', x'01')")
        #expect(try await SQLiteStore.examine(folder.file()).problems.count == 1)
    }
}
