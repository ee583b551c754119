import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import Testing

@Suite("Documents that are replaced by one writer at a time")
struct VersionedDocumentTests {
    private let clock = ManualClock()
    private let space: StateSpace
    private let document: VersionedDocument

    init() {
        space = StateSpace("s", in: MemoryStore(clock: clock.hostClock))
        document = VersionedDocument(in: space)
    }

    private func write(_ text: String, after reading: VersionedDocument.Reading) async throws -> Bool {
        try await document.write(Array(text.utf8), after: reading, now: clock.now)
    }

    private func text() async throws -> String? {
        try await document.read().value.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("Of writers that saw the same version, one writes; so it is for the first version, too")
    func once() async throws {
        #expect(try await text() == nil)
        let nothing = try await document.read()
        #expect(try await write("a", after: nothing))
        #expect(try await !write("b", after: nothing))
        #expect(try await text() == "a")
    }

    @Test("A writer that comes late does not write, however many versions came between")
    func late() async throws {
        let nothing = try await document.read()
        #expect(try await write("a", after: nothing))
        let early = try await document.read()
        for round in 0..<20 { #expect(try await write("\(round)", after: try await document.read())) }
        for reading in [nothing, early] { #expect(try await !write("late", after: reading)) }
        #expect(try await text() == "19")
        #expect(try await document.read().version == 21)
    }

    @Test("Older versions keep nothing, and go")
    func cleaning() async throws {
        for round in 0..<20 { #expect(try await write("\(round)", after: try await document.read())) }
        let entries = try await space.list(limit: 100)
        #expect(entries.count == 20)
        #expect(entries.dropFirst().allSatisfy { $0.value.isEmpty && $0.expires != nil })
        clock.advance(by: .seconds(3601))
        #expect(try await space.list(limit: 100).count == 1)
        #expect(try await text() == "19")
    }

    @Test("Of fifty writers at the same time, none undoes what another wrote")
    func concurrency() async throws {
        let counts = try await withThrowingTaskGroup(of: UInt8.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await document.update(now: clock.now) { present in
                        let count = (present?.first ?? 0) + 1
                        return ([count], count)
                    }
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(counts == Set(1...50))
        #expect(try await document.read().value == [50])
    }

    @Test("A change that leaves the value writes nothing, and one that throws neither")
    func unchanged() async throws {
        struct Refusal: Error {}
        #expect(try await document.update(now: clock.now) { (nil, $0) } == nil)
        await #expect(throws: Refusal.self) {
            try await document.update(now: clock.now) { _ -> ([UInt8]?, Void) in throw Refusal() }
        }
        #expect(try await space.list(limit: 10).isEmpty)
    }

    @Test("What is no document is said to be damaged, and is not written over")
    func damaged() async throws {
        try await space.put("0000", value: [1])
        await #expect(throws: VersionedDocument.Damaged.self) {
            try await document.update(now: clock.now) { _ in ([2], ()) }
        }
        #expect(try await space.list(limit: 10).map(\.value) == [[1]])
    }
}
