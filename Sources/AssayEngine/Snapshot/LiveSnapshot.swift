internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayPolicy
internal import Logging
internal import Synchronization

/// The snapshot in force, and how another replaces it.
final class LiveSnapshot: Sendable {
    /// The result of the last attempt to read the keys.
    private struct Reading {
        /// What the store was known by then.
        var mark: KeyChangeMark?
        var failure: (error: KeyError, at: Duration)?
    }

    private let store: KeyStore
    private let host: PluginHost
    private let current: Mutex<Snapshot>
    /// Held while keys are read and a snapshot is swapped: a slow one must not undo what a faster one did.
    private let reading: Mutex<Reading>

    /// How long it is held to be useless to read keys again that could not be read.
    private static let patience = Duration.seconds(1)

    /// - Throws: ``KeyError`` when there are no keys and none can be made.
    init(_ policies: BoundPolicies, store: KeyStore, host: PluginHost) throws(KeyError) {
        let stored = try store.ring(
            for: policies.tokens, following: nil, now: host.clock.now, randomness: host.randomness)
        self.store = store
        self.host = host
        current = Mutex(Snapshot(policies: policies, keys: try KeyPlan(stored.ring)))
        reading = Mutex(Reading(mark: stored.mark))
        report(stored.changes)
    }

    var snapshot: Snapshot { current.withLock { $0 } }

    /// Puts other policies in the place of the present ones, with the keys that they need.
    ///
    /// - Throws: ``KeyError``; everything stays as it is then.
    func replace(_ policies: BoundPolicies) throws(KeyError) {
        try reading.withLock { (reading: inout Reading) throws(KeyError) in
            let keys = try read(&reading, for: policies.tokens)
            current.withLock { $0 = Snapshot(policies: policies, keys: keys) }
        }
    }

    /// Takes up what has changed in the stored keys; false when nothing has.
    ///
    /// - Throws: ``KeyError``; the present keys stay in force then.
    func reloadKeys() throws(KeyError) -> Bool {
        try reading.withLock { (reading: inout Reading) throws(KeyError) -> Bool in
            let tokens = snapshot.policies.tokens
            return takeUp(try read(&reading, for: tokens))
        }
    }

    /// Keys that know an identifier which those of a call do not: another server may have taken up a key that this one
    /// has not seen yet.
    ///
    /// Nil when there is no such key.
    ///
    /// What strangers make up costs one look at the file's status. It is read only when it has changed since it was read
    /// last, or when that failed a while ago.
    ///
    /// - Throws: ``KeyError`` when it cannot be known whether there is such a key.
    func keys(toKnow id: [UInt8], beyond known: KeyPlan) throws(KeyError) -> KeyPlan? {
        guard !known.knows(id) else { return nil }
        let present = snapshot.keys
        if present !== known, present.knows(id) { return present }
        return try reading.withLock { (reading: inout Reading) throws(KeyError) -> KeyPlan? in
            let isUnchanged = store.changeMark == reading.mark
            if let failure = reading.failure, isUnchanged,
                host.clock.uptime - failure.at < LiveSnapshot.patience
            {
                throw failure.error
            }
            if reading.failure != nil || !isUnchanged {
                do throws(KeyError) {
                    _ = takeUp(try read(&reading, for: nil))
                } catch {
                    host.logger.error(
                        "the keys cannot be read again: those in force stay", metadata: ["error": "\(error)"])
                    throw error
                }
            }
            let keys = snapshot.keys
            return keys.knows(id) ? keys : nil
        }
    }

    /// The keys as they are stored, as a plan; the present one when nothing has changed.
    ///
    /// - Parameter tokens: the kind of keys that is needed: what is missing is made. Nil to take them as they are.
    private func read(_ reading: inout Reading, for tokens: TokenPolicy?) throws(KeyError) -> KeyPlan {
        let mark = store.changeMark
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
            return plan
        } catch {
            reading = Reading(mark: mark, failure: (error, host.clock.uptime))
            throw error
        }
    }

    private func takeUp(_ keys: KeyPlan) -> Bool {
        let isOther = current.withLock { current in
            guard current.keys !== keys else { return false }
            current = Snapshot(policies: current.policies, keys: keys)
            return true
        }
        if isOther {
            let now = host.clock.now
            host.logger.info(
                "changed keys were taken up",
                metadata: [
                    "signing": "\(keys.issuer(at: now).signer.keyID)",
                    "sealing": "\(Hex.encode(keys.sealingKey(at: now).id))",
                ])
        }
        return isOther
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
                    "the policy asks for another kind of signing key: a new one is published, and signs in time",
                    metadata: ["key": "\(id)", "alg": "\(algorithm)", "from": "\(begins)", "until_then": "\(until)"])
            case .adopted(let id, let begins, let until):
                host.logger.notice(
                    "the policy asks for another kind of signing key: a prepared one takes over",
                    metadata: ["key": "\(id)", "from": "\(begins)", "until_then": "\(until)"])
            case .heldBack(let id, let algorithm):
                host.logger.warning(
                    "a prepared signing key is of another kind than the policy asks for: it does not begin by itself",
                    metadata: ["key": "\(id)", "alg": "\(algorithm)"])
            }
        }
    }
}
