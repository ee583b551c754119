internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import Dispatch
internal import Synchronization

/// Keys in a vault: what it held when it was last asked, and the way to change it.
///
/// Reading needs no vault. Changing waits for it, on the caller's thread.
final class VaultedKeys: Sendable {
    private struct Known {
        var ring: KeyRing?
        var revision: KeyRevision?
        /// How often another document was taken.
        var changes: Int64 = 0
        /// The uptime of the last question to which the vault answered that the document is the one above.
        var answered: Duration?
    }

    /// How long a vault may take for an answer.
    static let timeLimit = Duration.seconds(30)
    /// How often a change is tried while others change the keys, too.
    private static let attempts = 16

    /// What the operator wrote.
    let name: String
    private let vault: any KeyVault
    private let clock: HostClock
    private let known = Mutex(Known())

    init(_ vault: any KeyVault, name: String, clock: HostClock) {
        self.vault = vault
        self.name = name
        self.clock = clock
    }

    /// Whether the vault is the service's own state store.
    var isInState: Bool { vault is StateKeyVault }

    /// The keys as they are known; nil when there are none.
    var present: StoredKeys? {
        known.withLock { known in
            known.ring.map { StoredKeys(ring: $0, mark: KeyChangeMark([known.changes])) }
        }
    }

    /// Reads the vault's document, if it is another one than before; returns whether it is.
    func refresh() async throws(KeyError) -> Bool {
        let (revision, asked) = (known.withLock { $0.revision }, clock.uptime)
        var isChanged = true
        if let revision { isChanged = try await ask { try await $0.revision() } != revision }
        if isChanged { isChanged = try take(try await ask { try await $0.read() }) }
        known.withLock { $0.answered = max($0.answered ?? asked, asked) }
        return isChanged
    }

    /// When the vault was last asked with success, on its clock.
    var answered: Duration? { known.withLock { $0.answered } }

    /// How long ago that was.
    func age(of answer: Duration) -> Duration { clock.uptime - answer }

    /// Changes the document, also when another server was faster; waits for the vault on this thread, which is none of the
    /// concurrency pool.
    func update(
        mayBegin: Bool, _ change: (inout KeyRing) throws(KeyError) -> Bool
    ) throws(KeyError) -> StoredKeys {
        for _ in 0..<Self.attempts {
            let document = try wait { try await $0.read() }
            _ = try take(document)
            guard var ring = present?.ring ?? (mayBegin ? KeyRing() : nil) else {
                throw KeyError("there are no keys in \(name)")
            }
            guard try change(&ring) else { return StoredKeys(ring: ring, mark: present?.mark) }
            let bytes = try ring.encoded()
            let revision = try wait { try await $0.replace(bytes, expecting: document?.revision) }
            guard let revision else { continue }
            return hold(ring, revision)
        }
        throw KeyError("\(name): others change the keys at the same time, again and again")
    }

    private func take(_ document: KeyDocument?) throws(KeyError) -> Bool {
        let (revision, hasKeys) = known.withLock { ($0.revision, $0.ring != nil) }
        guard let document else {
            // To make new keys in their place would lock out every client that depends on them.
            guard !hasKeys else { throw KeyError("\(name) has lost its keys") }
            return false
        }
        guard document.revision != revision else { return false }
        do throws(KeyError) {
            _ = hold(try KeyRing(decoding: document.bytes), document.revision)
        } catch {
            throw KeyError("\(name): \(error.message)")
        }
        return true
    }

    private func hold(_ ring: KeyRing, _ revision: KeyRevision) -> StoredKeys {
        known.withLock { known in
            known.ring = ring
            known.revision = revision
            known.changes += 1
            return StoredKeys(ring: ring, mark: KeyChangeMark([known.changes]))
        }
    }

    // MARK: - Asking

    private typealias Question<Value> = @Sendable (any KeyVault) async throws -> Value

    /// Asks the vault, for as long as ``timeLimit``.
    private func ask<Value: Sendable>(_ question: @escaping Question<Value>) async throws(KeyError) -> Value {
        let answer = FirstResult<Value>()
        let vault = vault
        let isAnswered = await waiting(atMost: Self.timeLimit, clock: clock) {
            do {
                answer.settle(.success(try await question(vault)))
            } catch {
                answer.settle(.failure(error))
            }
        }
        guard isAnswered, let answer = answer.present else {
            throw KeyError("\(name) did not answer within \(Self.timeLimit.wholeSeconds) s")
        }
        switch answer {
        case .success(let value): return value
        case .failure(let error): throw KeyError("\(name): \(SafeText.of("\(error)"))")
        }
    }

    private func wait<Value: Sendable>(_ question: @escaping Question<Value>) throws(KeyError) -> Value {
        let (end, answer) = (DispatchSemaphore(value: 0), FirstResult<Value>())
        Task.detached {
            do throws(KeyError) {
                answer.settle(.success(try await self.ask(question)))
            } catch {
                answer.settle(.failure(error))
            }
            end.signal()
        }
        end.wait()
        switch answer.present {
        case .success(let value)?: return value
        case .failure(let error as KeyError)?: throw error
        case .failure, nil: throw KeyError("\(name) did not answer")
        }
    }
}
