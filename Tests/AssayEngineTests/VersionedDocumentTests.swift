@testable import AssayEngine
import AssayKit
import AssayTesting
import Testing

@Suite("Documents that are replaced by one writer at a time")
struct VersionedDocumentTests {
    private let clock = ManualClock()
    private let document: VersionedDocument

    init() {
        document = VersionedDocument(space: "s", store: MemoryStore(clock: clock.hostClock))
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
        let entries = try await document.store.list("s", after: nil, limit: 100)
        #expect(entries.count == 20)
        #expect(entries.dropFirst().allSatisfy { $0.value.isEmpty && $0.expires != nil })
        clock.advance(by: .seconds(3601))
        #expect(try await document.store.list("s", after: nil, limit: 100).count == 1)
        #expect(try await text() == "19")
    }

    @Test("Of fifty writers at the same time, none undoes what another wrote")
    func concurrency() async throws {
        let written = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    while true {
                        let reading = try await document.read()
                        let count = reading.value?.first ?? 0
                        if try await document.write([count + 1], after: reading, now: clock.now) { return 1 }
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(written == 50)
        #expect(try await document.read().value == [50])
    }
}
