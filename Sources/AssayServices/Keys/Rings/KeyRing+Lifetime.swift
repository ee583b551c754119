internal import AssayCore
internal import AssayEngine
internal import AssayPolicy

/// An operator's actions on single keys.
extension KeyRing {
    /// The key with an identifier.
    func find(_ id: String) throws(KeyError) -> Place {
        let places =
            signing.indices.filter { signing[$0].id.isExactly(id) }.map { Place.signing($0) }
            + sealing.indices.filter { Hex.encode(sealing[$0].id).isExactly(id) }.map { Place.sealing($0) }
        guard let place = places.first else {
            throw KeyError("unknown key identifier '\(SafeText.of(id, limit: 20))'")
        }
        guard places.count == 1 else { throw KeyError("there are \(places.count) keys with the identifier \(id)") }
        return place
    }

    /// Puts a prepared key in the place of the active one; false when it is active already.
    mutating func activate(_ id: String, beforeItsTime: Bool, now: Instant) throws(KeyError) -> Bool {
        switch try find(id) {
        case .signing(let index): try signing.activate(index, beforeItsTime: beforeItsTime, now: now)
        case .sealing(let index): try sealing.activate(index, beforeItsTime: beforeItsTime, now: now)
        }
    }

    /// Takes a key out of use permanently; false when it is out of use already.
    mutating func retire(_ id: String, now: Instant) throws(KeyError) -> Bool {
        switch try find(id) {
        case .signing(let index): try signing.retire(index, now: now)
        case .sealing(let index): try sealing.retire(index, now: now)
        }
    }

    /// Takes a key out of use at once, and everything with it that it signed or sealed; false when it is revoked already.
    ///
    /// If it is the key in use, the prepared key that was published longest takes its place, even before its lead is over;
    /// without a prepared key, a new one is made. A sealing key stays in the ring, so that it is not missed.
    mutating func revoke(_ id: String, losingDevices: Bool, now: Instant) throws(KeyError) -> Bool {
        switch try find(id) {
        case .signing(let index):
            let kind = signing[index].kind
            guard let needsSuccessor = signing.revoke(index, now: now) else { return false }
            if needsSuccessor { try addSigningKey(kind, .active(from: now)) }
        case .sealing(let index):
            guard losingDevices || sealing[index].times.revoked != nil else {
                throw KeyError(
                    refusal:
                        "\(id) is a sealing key: every device that was attested under it would have to attest again, and apps "
                        + "with Google's SDK would have to be installed again. Revoke it with --losing-devices only if it leaked; "
                        + "otherwise prepare another one")
            }
            guard let needsSuccessor = sealing.revoke(index, now: now) else { return false }
            if needsSuccessor { _ = try addSealingKey(.active(from: now), randomness: .system) }
        }
        return true
    }

    /// Removes keys that no valid token can name.
    mutating func prune(at now: Instant) {
        let ends = signing.indices.map { index -> Instant? in
            if let revoked = signing[index].times.revoked { return revoked + KeyRing.publication }
            return publicationEnd(of: index)
        }
        signing = zip(signing, ends).filter { $1.map { now < $0 } ?? true }.map(\.0)
    }
}

extension Array where Element: RingKey {
    /// Revokes a key, and lets the prepared key that was published longest take its place if it was in use.
    ///
    /// - Returns: whether a new key must take its place; nil when it is revoked already.
    fileprivate mutating func revoke(_ index: Int, now: Instant) -> Bool? {
        guard self[index].times.revoked == nil else { return nil }
        settle(at: now)
        var needsSuccessor = false
        if inUse(at: now) == index {
            let successors = waiting + pending(at: now)
            if let successor = successors.min(by: { self[$0].times.ready < self[$1].times.ready }) {
                adopt(successor, at: now)
            } else {
                self[index].times.retired = now
                needsSuccessor = true
            }
        }
        self[index].times.revoked = now
        return needsSuccessor
    }

    fileprivate mutating func activate(_ index: Int, beforeItsTime: Bool, now: Instant) throws(KeyError) -> Bool {
        settle(at: now)
        guard inUse(at: now) != index else { return false }
        let (name, times) = (self[index].name, self[index].times)
        if let revoked = times.revoked { throw KeyError(refusal: "\(name) was revoked at \(revoked)") }
        if let retired = times.retired {
            throw KeyError(refusal: "\(name) was retired at \(retired): prepare another one")
        }
        guard beforeItsTime || times.ready <= now else {
            throw KeyError(
                refusal:
                    "\(name) may be activated from \(times.ready) on: until then not all clients and servers have seen it"
            )
        }
        adopt(index, at: now)
        return true
    }

    fileprivate mutating func retire(_ index: Int, now: Instant) throws(KeyError) -> Bool {
        settle(at: now)
        guard self[index].times.isUsable else { return false }
        guard inUse(at: now) == index else {
            self[index].times.retired = now
            return true
        }
        let successors = (waiting + pending(at: now)).sorted { self[$0].times.ready < self[$1].times.ready }
        guard let successor = successors.first else {
            throw KeyError(refusal: "\(self[index].name) is in use and no other can take its place: prepare one first")
        }
        guard self[successor].times.ready <= now else {
            throw KeyError(
                refusal: "\(self[index].name) is in use; \(self[successor].name) can take its place from "
                    + "\(self[successor].times.ready) on")
        }
        adopt(successor, at: now)
        return true
    }
}
