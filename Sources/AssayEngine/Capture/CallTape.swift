internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import Synchronization

/// What one call of a provider learned of the state, and of what this service had sealed: without it, its evidence could
/// not be judged again.
///
/// It is bounded: what does not fit is missing, and said to be.
package final class CallTape: Sendable {
    /// The tape of the call that the present task belongs to; nil where nothing is captured.
    @TaskLocal static var current: CallTape?

    /// A value that was put, or removed.
    struct Put: Hashable {
        private let key: StateKey
        private let digest: [UInt8]?

        init(_ key: StateKey, _ value: [UInt8]?) {
            self.key = key
            digest = value.map { SHA256.hash($0) }
        }
    }

    private struct State {
        var puts: Set<Put> = []
        var answers: [StateAnswer] = []
        var opened: [OpenedData] = []
        var bytes = 0
        var isWhole = true
    }

    private static let countLimit = 64
    private static let byteLimit = 32_768

    private let spaces: ProviderSpaces
    private let state = Mutex(State())

    init(_ spaces: ProviderSpaces) {
        self.spaces = spaces
    }

    /// Takes down an answer of the state store.
    func note(_ key: StateKey, _ operation: StateAnswer.Operation) {
        var size = key.name.utf8.count + 64
        if case .get(let value?) = operation { size += value.count }
        let answer = StateAnswer(spaces.name(of: key.space), key.name, operation)
        add(size) { $0.answers.append(answer) }
    }

    /// Takes down whether changes were made.
    ///
    /// - Parameter refused: the index of the first one that could not be made; nothing is known of the others then.
    func note(_ changes: [StateChange], refused: Int?) {
        for (index, change) in changes.enumerated() where refused == nil || refused == index {
            switch change {
            case .insert(let key, _, _, _): note(key, .insert(refused == nil))
            case .advance(let key, let value): note(key, .advance(to: value, refused == nil))
            }
        }
    }

    /// Takes down what was put.
    ///
    /// Captured evidence does without: nothing is learned by it.
    func note(_ key: StateKey, put value: [UInt8]?) {
        let put = Put(key, value)
        state.withLock { state in
            if state.puts.count < Self.countLimit { state.puts.insert(put) }
        }
    }

    /// Takes down that the store was asked for something whose answer is too large to keep.
    func noteUnkept() {
        state.withLock { $0.isWhole = false }
    }

    /// Takes down what was opened.
    func note(opened content: [UInt8]?, of sealed: [UInt8]) {
        let opened = OpenedData(digest: SHA256.hash(sealed), content: content)
        add((content?.count ?? 0) + 64) { $0.opened.append(opened) }
    }

    private func add(_ size: Int, _ append: (inout State) -> Void) {
        state.withLock { state in
            guard state.answers.count + state.opened.count < Self.countLimit, state.bytes + size <= Self.byteLimit
            else {
                state.isWhole = false
                return
            }
            state.bytes += size
            append(&state)
        }
    }

    /// What the state answered so far.
    var answers: RecordedAnswers { RecordedAnswers(state.withLock { $0.answers }, spaces) }

    /// What was put so far.
    var puts: Set<Put> { state.withLock { $0.puts } }

    /// Puts what was taken down into evidence.
    func complete(_ evidence: inout CapturedEvidence) {
        let state = state.withLock { $0 }
        evidence.state = state.answers
        evidence.opened = state.opened
        if !state.isWhole { evidence.leftOut.insert(.state) }
    }

    /// Runs a call of a plugin with a tape, or without one.
    static func recording<Value: Sendable>(
        _ tape: CallTape?, _ operation: @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let tape else { return try await operation() }
        return try await $current.withValue(tape, operation: operation)
    }
}

/// The namespaces of a provider for one app, by the names that records have for them.
package struct ProviderSpaces: Sendable {
    private let own: [(space: String, name: String)]

    /// - Parameters:
    ///   - app: the namespace of the app.
    ///   - linked: that of the app that an OAuth client is linked to.
    ///   - plugin: that of the provider.
    init(app: String, linked: String, plugin: String) {
        own = [(app, "state"), (linked, "appState"), (plugin, "plugin")]
    }

    /// `state`, `appState` or `plugin`, and what follows in the namespace.
    package func name(of space: String) -> String {
        for (own, name) in own where space.starts(withExactly: own) {
            let rest = space.utf8.dropFirst(own.utf8.count)
            if rest.first == nil || rest.first == UInt8(ascii: "/") { return name + (String(rest) ?? "") }
        }
        return space
    }
}
