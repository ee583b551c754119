internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayPolicy

/// The changes that a policy makes in a ring.
///
/// The policy says what kind of key signs. A new key of that kind must not sign before clients have fetched it, so the
/// present key continues signing until the new one has been published for its lead.
extension KeyRing {
    /// Whether the ring has every key that a policy needs.
    func isComplete(for policy: TokenPolicy, now: Instant) -> Bool {
        guard sealing.inUse(at: now) != nil, let present = signing.inUse(at: now) else { return false }
        let pending = signing.pending(at: now)
        guard pending.allSatisfy({ signing[$0].fits(policy) }) else { return false }
        return signing[present].fits(policy) || !pending.isEmpty
    }

    /// Makes the keys that a policy needs and the ring lacks, and puts them in order.
    mutating func complete(
        for policy: TokenPolicy, now: Instant, randomness: Randomness
    ) throws(KeyError) -> [Change] {
        var changes: [Change] = []
        if sealing.inUse(at: now) == nil {
            let key = try addSealingKey(.active(from: now), randomness: randomness)
            changes.append(.madeSealing(Hex.encode(key.id)))
        }
        guard let present = signing.inUse(at: now) else {
            let key = try addSigningKey(policy, .active(from: now))
            return changes + [.made(key.id, algorithm: key.algorithm.rawValue)]
        }
        for index in signing.pending(at: now) where !signing[index].fits(policy) {
            signing[index].times.begins = nil
            changes.append(.heldBack(signing[index].id, algorithm: signing[index].algorithm.rawValue))
        }
        guard !signing[present].fits(policy), signing.pending(at: now).isEmpty else { return changes }
        let until = signing[present].id
        let candidates = signing.waiting.filter { signing[$0].fits(policy) }
        if let index = candidates.min(by: { signing[$0].times.ready < signing[$1].times.ready }) {
            let ready = signing[index].times.ready
            if ready <= now {
                signing.adopt(index, at: now)
            } else {
                signing[index].times.begins = signing.beginning(ready: ready, now: now)
            }
            return changes + [.adopted(signing[index].id, begins: max(ready, now), until: until)]
        }
        makeRoom(at: now)
        let ready = now + KeyRing.signingLead
        let begins = signing.beginning(ready: ready, now: now)
        let key = try addSigningKey(policy, KeyTimes(created: now, ready: ready, begins: begins))
        return changes + [.prepared(key.id, algorithm: key.algorithm.rawValue, begins: begins, until: until)]
    }
}
