import AssayCore
import AssayKit

/// A state store that answers what an engine asks before its first decision, and nothing after: whoever waits for it must
/// give up.
struct SilentStore: StateStore {
    private static let emptySpaces = ["challenges", "denials/all"]

    private func wait() async throws -> Never {
        while true { try await Task.sleep(for: .seconds(3600)) }
    }

    /// Whether it is about the history of the state and the keys that it was used with.
    private func isOfBeginning(_ space: String) -> Bool { ["state", "keys"].contains(exactly: space) }

    func commit(_ changes: [StateChange]) async throws -> Int? {
        if changes.allSatisfy({ isOfBeginning($0.key.space) }) { return nil }
        try await wait()
    }

    func get(_ key: StateKey) async throws -> [UInt8]? {
        if isOfBeginning(key.space) { return nil }
        try await wait()
    }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        if isOfBeginning(key.space) { return }
        try await wait()
    }

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        if isOfBeginning(space) || Self.emptySpaces.contains(exactly: space) {
            return []
        }
        try await wait()
    }
}
