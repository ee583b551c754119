import AssayKit

/// A state store that never answers: whoever waits for it must give up.
struct SilentStore: StateStore {
    private func wait() async throws -> Never {
        while true { try await Task.sleep(for: .seconds(3600)) }
    }

    func insert(_ key: StateKey, value: [UInt8], expires: Instant?) async throws -> Bool { try await wait() }
    func advance(_ key: StateKey, to value: UInt64) async throws -> Bool { try await wait() }
    func get(_ key: StateKey) async throws -> [UInt8]? { try await wait() }
    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws { try await wait() }
    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] { try await wait() }
}
