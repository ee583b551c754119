internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayPolicy
internal import Logging
internal import Synchronization

/// The snapshot in force, and its replacement.
final class LiveSnapshot: Sendable {
    /// The result of the last attempt to read the keys.
    private struct Reading {
        /// The mark of the stored keys at that time.
        var mark: KeyChangeMark?
        var failure: (error: KeyError, at: Duration)?
    }

    private let store: any KeySource
    private let host: PluginHost
    private let sink: any DecisionSink
    private let current: Mutex<Snapshot>
    /// Held while keys are read and a snapshot is swapped, so that a slow swap cannot undo a faster one.
    private let reading: Mutex<Reading>
    /// When the vault last said that the keys of the snapshot are the present ones; nil for keys without a vault.
    private let confirmed: Mutex<Duration?>

    /// One reading for all calls that meet an unknown key.
    private let rereading = SharedWork<Int, Void>()

    /// How long a failed read of the keys is not repeated.
    private static let patience = Duration.seconds(1)

    /// - Throws: ``KeyError`` when there are no keys and none can be made.
    init(
        _ policies: BoundPolicies, store: any KeySource, host: PluginHost, sink: any DecisionSink
    ) throws(KeyError) {
        let answered = store.answered
        let stored = try store.ring(
            for: policies.tokens, following: nil, now: host.clock.now, randomness: host.randomness)
        confirmed = Mutex(answered)
        self.store = store
        self.host = host
        self.sink = sink
        current = Mutex(Snapshot(policies: policies, keys: try KeyPlan(stored.ring)))
        reading = Mutex(Reading(mark: stored.mark))
        report(stored.changes)
    }

    var snapshot: Snapshot { current.withLock { $0 } }

    /// Notes since when the state is complete, unless other keys than those that were compared are in force by now.
    func note(_ keys: KeyPlan, since beginning: Instant) {
        current.withLock { if $0.keys === keys { $0 = $0.complete(since: beginning) } }
    }

    /// Notes what was read of the deny list.
    func note(_ denials: LiveDocument<DenyList>.Known) {
        current.withLock { if !denials.isOlder(than: $0.storedDenials) { $0 = $0.reading(denials) } }
    }

    /// When the keys of the snapshot were last known to be the present ones.
    var freshness: KeyFreshness {
        KeyFreshness(age: confirmed.withLock { $0 }.map { store.age(of: $0) })
    }

    /// Why something by an unknown key is not refused: the vault may have the key; nil when it is known not to.
    var undecided: KeyError? {
        guard freshness.isOver(KeyAging.refusalLimit) else { return nil }
        return KeyError("the key vault does not answer: it may have a key that is unknown here")
    }

    /// Notes that the vault has answered, if the keys of the snapshot are those that it has; returns whether they are.
    func confirmKeys() -> Bool {
        let answered = store.answered
        return reading.withLock { reading in
            guard reading.failure == nil, reading.mark == store.changeMark else { return false }
            confirmed.withLock { $0 = answered }
            return true
        }
    }

    /// Replaces the policies, with the keys that the new ones need.
    ///
    /// - Throws: ``KeyError``; everything stays unchanged then.
    func replace(_ policies: BoundPolicies) throws(KeyError) {
        try reading.withLock { (reading: inout Reading) throws(KeyError) in
            let keys = try read(&reading, for: policies.tokens)
            let before = current.withLock { current in
                defer { current = current.replacing(policies: policies, keys: keys) }
                return current.keys
            }
            if before !== keys { sink.record(keys.event(after: before, now: host.clock.now)) }
        }
    }

    /// Loads changed keys; false when nothing has changed.
    ///
    /// - Throws: ``KeyError``; the present keys stay in force then.
    func reloadKeys() throws(KeyError) -> Bool {
        try reading.withLock { (reading: inout Reading) throws(KeyError) -> Bool in
            let tokens = snapshot.policies.tokens
            return adopt(try read(&reading, for: tokens))
        }
    }

    /// Keys that contain an identifier which the keys of a call lack: another server may have loaded a key that this
    /// one does not have yet.
    ///
    /// Nil when there is no such key.
    ///
    /// An invented identifier costs two checks of the file's status, on a thread of the host, which many such calls share.
    /// The file is read only when it has changed since the last read, or when that read failed some time ago.
    ///
    /// - Throws: ``KeyError`` when it cannot be known whether there is such a key.
    func keys(toKnow id: [UInt8], beyond known: KeyPlan) async throws -> KeyPlan? {
        guard !known.knows(id) else { return nil }
        let present = snapshot.keys
        if present !== known, present.knows(id) { return present }
        // A reading that was begun for another call may be older than the key.
        for _ in 0..<2 {
            try await rereading.value(for: 0) { [self] in try await host.blocking { try self.reread() } }
            let keys = snapshot.keys
            if keys.knows(id) { return keys }
        }
        return nil
    }

    /// Reads the stored keys again if they have changed.
    ///
    /// - Throws: ``KeyError`` when they cannot be read, or may be others than those that are known.
    private func reread() throws(KeyError) {
        try reading.withLock { (reading: inout Reading) throws(KeyError) in
            let isUnchanged = store.changeMark == reading.mark
            if let failure = reading.failure, isUnchanged,
                host.clock.uptime - failure.at < LiveSnapshot.patience
            {
                throw failure.error
            }
            if let undecided { throw undecided }
            if reading.failure != nil || !isUnchanged {
                do throws(KeyError) {
                    _ = adopt(try read(&reading, for: nil))
                } catch {
                    host.logger.error(
                        "the keys cannot be read again: the present ones stay in force", metadata: ["error": "\(error)"]
                    )
                    throw error
                }
            }
        }
    }

    /// The stored keys as a plan; the present plan when nothing has changed.
    ///
    /// - Parameter tokens: the kind of keys that is needed: missing keys are made. Nil to read the keys as they are.
    private func read(_ reading: inout Reading, for tokens: TokenPolicy?) throws(KeyError) -> KeyPlan {
        let (mark, answered) = (store.changeMark, store.answered)
        let present = snapshot.keys
        do throws(KeyError) {
            let stored: StoredKeys
            if let tokens {
                stored = try store.ring(
                    for: tokens, following: present.ring, now: host.clock.now, randomness: host.randomness)
            } else {
                stored = try store.stored(following: present.ring, now: host.clock.now)
            }
            report(stored.changes)
            let plan = stored.ring.isSame(as: present.ring) ? present : try KeyPlan(stored.ring)
            reading = Reading(mark: stored.mark)
            confirmed.withLock { $0 = answered }
            return plan
        } catch {
            reading = Reading(mark: mark, failure: (error, host.clock.uptime))
            throw error
        }
    }

    private func adopt(_ keys: KeyPlan) -> Bool {
        let before = current.withLock { current -> KeyPlan? in
            guard current.keys !== keys else { return nil }
            defer { current = current.replacing(keys: keys) }
            return current.keys
        }
        if let before {
            sink.record(keys.event(after: before, now: host.clock.now))
            let now = host.clock.now
            host.logger.info(
                "changed keys were loaded",
                metadata: [
                    "signing": "\(keys.issuer(at: now).signer.keyID)",
                    "sealing": "\(Hex.encode(keys.sealingKey(at: now).id))",
                ])
        }
        return before != nil
    }

    private func report(_ changes: [KeyRing.Change]) {
        for change in changes {
            switch change {
            case .made(let id, let algorithm):
                host.logger.info("the first signing key was made", metadata: ["key": "\(id)", "alg": "\(algorithm)"])
            case .madeSealing(let id):
                host.logger.info("the first sealing key was made", metadata: ["key": "\(id)"])
            case .prepared(let id, let algorithm, let begins, let until):
                host.logger.notice(
                    "the policy asks for another kind of signing key: a new one is published, and signs later",
                    metadata: ["key": "\(id)", "alg": "\(algorithm)", "from": "\(begins)", "until_then": "\(until)"])
            case .adopted(let id, let begins, let until):
                host.logger.notice(
                    "the policy asks for another kind of signing key: a prepared one takes over",
                    metadata: ["key": "\(id)", "from": "\(begins)", "until_then": "\(until)"])
            case .heldBack(let id, let algorithm):
                host.logger.warning(
                    "a prepared signing key is of another kind than the policy asks for: it is not activated automatically",
                    metadata: ["key": "\(id)", "alg": "\(algorithm)"])
            }
        }
    }
}
