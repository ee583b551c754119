import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import Testing

@Suite("Namespaces of a store")
struct StateSpaceTests {
    private let clock = ManualClock()
    private let store: MemoryStore

    init() {
        store = MemoryStore(clock: clock.hostClock)
    }

    @Test("Each operation reaches the entry of its own namespace and of no other")
    func separate() async throws {
        let (one, other) = (StateSpace("one", in: store), StateSpace("other", in: store))
        #expect(try await one.insert("a", value: [1], expires: nil))
        #expect(try await other.insert("a", value: [2], expires: nil))
        #expect(try await !one.insert("a", value: [3], expires: nil))
        try await other.put("b", value: [4], expires: nil)
        #expect(try await one.get("a") == [1])
        #expect(try await one.get("b") == nil)
        #expect(try await other.list(limit: 10).map(\.value) == [[2], [4]])
        try await one.put("a", value: nil)
        #expect(try await one.list(limit: 10).isEmpty)
        #expect(try await other.get("a") == [2])
    }

    @Test("Counters of one name in two namespaces are two counters, and no entries")
    func counters() async throws {
        let (one, other) = (StateSpace("one", in: store), StateSpace("other", in: store))
        #expect(try await one.advance("n", to: 5))
        #expect(try await other.advance("n", to: 1))
        #expect(try await !one.advance("n", to: 5))
        #expect(try await one.get("n") == nil)
    }

    @Test(
        "What is in a namespace within another one is not listed there, and has the same name in the store every time")
    func subspaces() async throws {
        let space = StateSpace("app", in: store)
        try await space.subspace("keys").put("a", value: [1])
        #expect(try await space.list(limit: 10).isEmpty)
        #expect(try await space.get("a") == nil)
        #expect(try await StateSpace("app", in: store).subspace("keys").get("a") == [1])
        #expect(try await store.get(StateKey("app/keys", "a")) == [1])
    }

    @Test("Names that are spelled alike but have other bytes are two entries")
    func bytes() async throws {
        let space = StateSpace("app", in: store)
        #expect(try await space.insert("\u{E9}", expires: nil))
        #expect(try await space.insert("e\u{301}", expires: nil))
    }

    @Test("A page begins behind the given name, and a full one does not mean that there is more")
    func pages() async throws {
        let space = StateSpace("app", in: store)
        for name in ["c", "a", "b"] { try await space.put(name, value: []) }
        #expect(try await space.list(limit: 2).map(\.name) == ["a", "b"])
        #expect(try await space.list(after: "b", limit: 1).map(\.name) == ["c"])
        #expect(try await space.list(after: "c", limit: 1).isEmpty)
    }
}

/// A document whose store does what no good store does.
@Suite("Documents in a store that others write to")
struct ContendedDocumentTests {
    /// Lets everybody read, and always tells writers that another one was faster.
    private struct AlwaysSecond: StateStore {
        let entries: [StateEntry]
        func commit(_ changes: [StateChange]) async throws -> Int? { 0 }
        func get(_ key: StateKey) async throws -> [UInt8]? { nil }
        func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {}
        func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] { entries }
    }

    private func document(_ entries: StateEntry...) -> VersionedDocument {
        VersionedDocument(in: StateSpace("s", in: AlwaysSecond(entries: entries)))
    }

    @Test("A change that comes second again and again ends as aborted, so that the caller can try later")
    func aborted() async throws {
        var tries = 0
        let error = await #expect(throws: CallFailure.self) {
            try await document().update(now: Instant(seconds: 0)) { _ in
                tries += 1
                return ([1], ())
            }
        }
        #expect(error?.status == .aborted)
        #expect(tries == 100)
    }

    @Test("A cancelled caller does not continue trying")
    func cancelled() async throws {
        let document = document()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await document.update(now: Instant(seconds: 0)) { _ in ([1], ()) }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(
        "An entry with another name than a version's is damage, and the error says where", arguments: ["", "00", "zz"])
    func name(_ name: String) async throws {
        let entry = StateEntry(name: name, value: [1], expires: nil)
        let error = await #expect(throws: VersionedDocument.Damaged.self) { try await document(entry).read() }
        #expect(error?.description.isExactly("the state in 's' is damaged") == true)
    }

    @Test("Behind the greatest version there is none: nothing is written, and nothing traps")
    func greatest() async throws {
        let document = document(StateEntry(name: String(repeating: "0", count: 16), value: [1], expires: nil))
        let reading = try await document.read()
        #expect(reading.version == .max)
        await #expect(throws: VersionedDocument.Damaged.self) {
            try await document.write([2], after: reading, now: Instant(seconds: 0))
        }
    }
}
