import AssayCore
import AssayKit
import Testing

@Suite("What a store that an operator chooses does by itself")
struct StateStorePluginTests {
    /// Implements what it must and nothing more.
    private struct SmallStore: StateStorePlugin {
        static let descriptor = StorageDescriptor(
            scheme: "small", summary: "Small.", survival: .nothing, sharing: .process)
        static func open(_ location: String, host: StorageHost) async throws(StateStoreOpeningError) -> SmallStore {
            throw StateStoreOpeningError("not here")
        }
        func commit(_ changes: [StateChange]) async throws -> Int? { 0 }
        func get(_ key: StateKey) async throws -> [UInt8]? { nil }
        func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {}
        func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] { [] }
        func close() async {}
    }

    @Test("A store that cannot be copied or examined says so by its name, and blocks nothing")
    func defaults() async throws {
        await #expect(throws: StateStoreOpeningError("small: use this store's own tools to copy it")) {
            try await SmallStore.copy("there", to: "/nowhere", adding: [:])
        }
        await #expect(throws: StateStoreOpeningError("small: use this store's own tools to examine it")) {
            try await SmallStore.examine("there")
        }
        #expect(SmallStore().blockingReason.isNil)
        #expect(SmallStore.scheme == "small" && SmallStore.descriptor.location == "LOCATION")
        try await SmallStore().run()
    }

    @Test("Findings, keys and errors are the same by their bytes")
    func equality() {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(StateStoreOpeningError(composed) != StateStoreOpeningError(decomposed))
        #expect(StateKey("s", composed) != StateKey("s", decomposed))
        #expect(StateKey(composed, "n") != StateKey(decomposed, "n"))
        #expect(
            StateStoreFindings(problems: [composed], contents: [])
                != StateStoreFindings(problems: [decomposed], contents: []))
    }
}
