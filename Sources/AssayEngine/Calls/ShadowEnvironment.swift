internal import AssayCore
package import AssayKit
internal import Synchronization

/// The world of a provider with shadow settings: it sees what the provider in force saw, and changes nothing.
final class ShadowEnvironment: Sendable {
    /// The stage of the call that the present task belongs to.
    @TaskLocal static var current: ShadowEnvironment?

    private let answers: Mutex<RecordedAnswers>
    private let puts: Set<CallTape.Put>
    private let hasOwnWrites = Mutex(false)

    init(_ tape: CallTape) {
        answers = Mutex(tape.answers)
        puts = tape.puts
    }

    /// Whether the provider would have written what the provider in force did not write.
    ///
    /// What it would find there at the next call is unknown then, as is its verdict.
    var writes: Bool { hasOwnWrites.withLock { $0 } }

    /// Takes down a write that the provider in force did not make.
    func noteWrite() { hasOwnWrites.withLock { $0 = true } }

    /// Takes down a write, unless the provider in force made it, too.
    func noteWrite(_ put: CallTape.Put) {
        if !puts.contains(put) { noteWrite() }
    }

    func answer<Value: Sendable>(_ ask: (inout RecordedAnswers) -> Value?) -> Value? {
        answers.withLock { ask(&$0) }
    }
}

/// The state as a provider with tried settings sees it: reads are real, or those of the provider in force; writes are not made.
struct ShadowStore: StateStore {
    let store: any StateStore

    func commit(_ changes: [StateChange]) async throws -> Int? {
        for (index, change) in changes.enumerated() where try await !isMade(change) { return index }
        return nil
    }

    private func isMade(_ change: StateChange) async throws -> Bool {
        if let known = ShadowEnvironment.current?.answer({ $0.isMade(change) }) { return known }
        // A counter that the provider in force did not ask about is not known to be above the value.
        if case .insert(let key, _, _, _) = change, try await store.get(key) != nil { return false }
        ShadowEnvironment.current?.noteWrite()
        return true
    }

    func get(_ key: StateKey) async throws -> [UInt8]? {
        if let known = ShadowEnvironment.current?.answer({ $0.get(key) }) { return known }
        return try await store.get(key)
    }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        ShadowEnvironment.current?.noteWrite(CallTape.Put(key, value))
    }

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        try await store.list(space, after: name, limit: limit)
    }

    var blockingReason: String? { store.blockingReason }
}

/// The tried settings have no verdict, because it depends on what they would have written before.
struct ShadowWrites: Error, CustomStringConvertible {
    var description: String { "they write to the state what the settings in force do not write" }
}

/// No calls to other servers: what is in shadow must not ask them twice, nor change anything there.
final class ShadowHTTP: OutboundHTTP {
    func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        throw OutboundFailure(.noClient, "settings in `shadow` call no other server")
    }
}

extension PluginHost {
    /// The host of a provider with shadow settings.
    package var shadow: PluginHost {
        var host = self
        host.store = ShadowStore(store: store)
        host.http = ShadowHTTP()
        host.meter = .none
        return host
    }
}
