public import AssayCore
public import AssayCrypto
public import AssayEngine
public import AssayPolicy

/// The stages of a key: first it is prepared, so that clients and servers learn of it; then it is activated, and signs
/// or seals; it is retired when another takes its place.
///
/// A running server loads a change with `Engine.reloadKeys()`. A key with an automatic beginning starts there at its
/// time.
extension KeyStore {
    /// How long a signing key should be published before it signs: 7 hours and 5 minutes, because Admin SDKs keep a key
    /// set for six hours, and a server may learn of the key some minutes later.
    public static let signingLead = KeyRing.signingLead
    /// How long a sealing key should be stored before it seals: by then every server that shares the folder has loaded
    /// it.
    public static let sealingLead = Duration.seconds(600)

    /// All keys as they are at a time: those that sign, then those that seal, the newest of each first.
    ///
    /// - Throws: `KeyError`, also when there are no keys: listing makes none.
    public func list(now: Instant) throws(KeyError) -> [KeyDescription] {
        try stored().ring.descriptions(at: now)
    }

    /// The public keys that verify tokens at a time, the newest first, as the key set publishes them.
    ///
    /// - `id`: only the key with this `kid`; nil for all.
    /// - Throws: `KeyError`, as a refusal when the key is not published.
    public func published(_ id: String? = nil, now: Instant) throws(KeyError) -> [JWK] {
        let keys = try stored().ring.published.filter { entry in entry.until.map { now < $0 } ?? true }.map(\.key)
        guard let id else { return keys }
        let found = keys.filter { $0.keyID.isExactly(id) }
        guard !found.isEmpty else { throw KeyError(refusal: "unknown published key \(id)") }
        return found
    }

    /// Makes a signing key that is published but does not sign yet.
    ///
    /// - `kind`: what to make; nil for a key like the one that signs now.
    /// - `lead`: how long it must have been published before it may sign.
    /// - `automatic`: whether it begins to sign then; otherwise it waits for ``activate(_:beforeItsTime:now:)``.
    /// - Throws: `KeyError`, as a refusal when too many keys exist already.
    public func prepareSigningKey(
        _ kind: TokenPolicy? = nil, lead: Duration = signingLead, automatic: Bool = false, now: Instant
    ) throws(KeyError) -> KeyDescription {
        try changed(now) { (ring) throws(KeyError) in
            ring.prune(at: now)
            let present = ring.signing.inUse(at: now)
            let like = present.map { ring.signing[$0].kind } ?? TokenPolicy()
            let ready = now + lead
            if automatic, let id = try ring.successor(.signing, kind ?? like, ready: ready, now: now) {
                return (false, id)
            }
            try ring.checkRoomForSigningKey()
            let times = KeyTimes(
                created: now, ready: ready,
                begins: automatic ? ring.signing.beginning(ready: ready, now: now) : nil)
            return (true, try ring.addSigningKey(kind ?? like, times).id)
        }
    }

    /// Makes a sealing key that opens but does not seal yet.
    ///
    /// The parameters are those of ``prepareSigningKey(_:lead:automatic:now:)``.
    public func prepareSealingKey(
        lead: Duration = sealingLead, automatic: Bool = false, now: Instant, randomness: Randomness = .system
    ) throws(KeyError) -> KeyDescription {
        try changed(now) { (ring) throws(KeyError) in
            let ready = now + lead
            if automatic, let id = try ring.successor(.sealing, nil, ready: ready, now: now) { return (false, id) }
            let times = KeyTimes(
                created: now, ready: ready,
                begins: automatic ? ring.sealing.beginning(ready: ready, now: now) : nil)
            return (true, Hex.encode(try ring.addSealingKey(times, randomness: randomness).id))
        }
    }

    /// Puts a prepared key in the place of the one that signs or seals, which retires; nothing happens when the key is
    /// active already.
    ///
    /// - `beforeItsTime`: whether its lead may be cut short: clients that hold an older key set then refuse its
    ///   tokens.
    /// - Throws: `KeyError`, as a refusal before the lead is over, and for a key that was retired or revoked.
    public func activate(
        _ id: String, beforeItsTime: Bool = false, now: Instant
    ) throws(KeyError) -> KeyDescription {
        try changed(now) { (ring) throws(KeyError) in
            guard try ring.activate(id, beforeItsTime: beforeItsTime, now: now) else { return (false, id) }
            ring.prune(at: now)
            return (true, id)
        }
    }

    /// Takes a key out of use permanently.
    ///
    /// A key that signs or seals is replaced by a prepared one whose lead is over. A signing key stays published until
    /// its last token has expired; a sealing key still opens.
    ///
    /// - Throws: `KeyError`, as a refusal when no key can take its place.
    public func retire(_ id: String, now: Instant) throws(KeyError) -> KeyDescription {
        try changed(now) { (ring) throws(KeyError) in
            guard try ring.retire(id, now: now) else { return (false, id) }
            return (true, id)
        }
    }

    /// Takes a key out of use at once, with everything that it signed or sealed: after a leak.
    ///
    /// A signing key leaves the key set: clients that fetch it after that refuse every token that the key signed. A sealing
    /// key opens nothing any more: its challenges are refused, and so is every device that was attested under it, until it
    /// attests again. If it was the active key, the prepared key that was published longest takes its place, or else a new
    /// one; neither waits for its lead.
    ///
    /// - `losingDevices`: whether a sealing key may be revoked.
    /// - Throws: `KeyError`, as a refusal for a sealing key whose devices must not be lost.
    public func revoke(_ id: String, losingDevices: Bool = false, now: Instant) throws(KeyError) -> KeyDescription {
        try changed(now) { (ring) throws(KeyError) in
            (try ring.revoke(id, losingDevices: losingDevices, now: now), id)
        }
    }

    /// - Parameter change: tells whether something must be stored, and which key it concerns.
    private func changed(
        _ now: Instant, _ change: (inout KeyRing) throws(KeyError) -> (Bool, String)
    ) throws(KeyError) -> KeyDescription {
        var id = ""
        let stored = try update(mayBegin: false) { (ring) throws(KeyError) in
            let (isChanged, key) = try change(&ring)
            id = key
            return isChanged
        }
        return stored.ring.describe(try stored.ring.find(id), at: now)
    }
}

extension KeyRing {
    /// The key that was prepared before, and begins by itself by the time at which a new one would: another one would
    /// replace it as soon as it begins.
    ///
    /// - Parameter kind: what a signing key must be.
    /// - Throws: `KeyError`, as a refusal, when one is prepared that begins later than the new one would.
    fileprivate func successor(
        _ purpose: KeyDescription.Purpose, _ kind: TokenPolicy?, ready: Instant, now: Instant
    ) throws(KeyError) -> String? {
        for key in descriptions(at: now) where key.purpose == purpose && key.state == .prepared {
            guard let next = key.next, next.event == .begins else { continue }
            if let kind {
                guard key.algorithm.isExactly(kind.algorithm.rawValue),
                    kind.algorithm != .rs256 || key.bits == kind.rsaBits
                else { continue }
            }
            guard next.at <= ready else {
                throw KeyError(
                    refusal:
                        "the key \(key.id) is prepared already, and begins at \(next.at): activate it when its lead is over, or "
                        + "retire it first")
            }
            return key.id
        }
        return nil
    }
}
