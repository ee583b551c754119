package import AssayCore
package import AssayCrypto
internal import AssayPolicy

/// All keys of a service, the newest of each kind first.
///
/// Immutable: a change makes another ring.
public struct KeyRing: Sendable {
    /// How long a key stays published after another took its place: the longest lifetime of a token, and a day for
    /// servers that share the keys and load a change later.
    package static let publication = Duration.seconds(8 * 86_400)
    /// How long a key is published before it signs: as long as a fetched key set is kept, as long as servers and caches may
    /// hand out one without the key as a present one, and five minutes for servers that are slow or begin meanwhile.
    package static let signingLead = KeyAging.backendCacheTime + KeyAging.publicationLimit + .seconds(300)
    /// What makes signing keys.
    package var maker = SigningKeyMaker.fresh
    package var signing: [SigningKey] = []
    /// The sealing keys; each of them opens forever, unless it is revoked.
    package var sealing: [SealingKey] = []

    /// No keys; what makes them is for tests to replace.
    package init(maker: SigningKeyMaker = .fresh) {
        self.maker = maker
    }

    /// The sealing keys that open what they sealed.
    package var openers: [SealingKey] { sealing.filter { $0.times.revoked == nil } }

    /// When a signing key stops being published; nil when that is not known.
    package func publicationEnd(of index: Int) -> Instant? {
        signing.retirement(of: index).map { $0 + KeyRing.publication }
    }

    /// The public halves of the signing keys that verify tokens, and until when each does; nil where that is not known.
    ///
    /// Revoked keys are left out.
    package var published: [(key: JWK, until: Instant?)] {
        signing.indices.filter { signing[$0].times.revoked == nil }.map { (signing[$0].jwk, publicationEnd(of: $0)) }
    }

    /// Whether it holds the same keys with the same times as another.
    package func isSame(as other: KeyRing) -> Bool {
        signing.elementsEqual(other.signing) { $0.id.isExactly($1.id) && $0.times == $1.times }
            && sealing.elementsEqual(other.sealing) {
                $0.id == $1.id && $0.times == $1.times && $0.secret == $1.secret
            }
    }

    /// - Throws: when a key of an earlier ring is missing although it is still needed: artifacts that it sealed could
    ///   not be opened, or tokens that it signed could not be verified.
    package func checkFollows(_ earlier: KeyRing, now: Instant) throws(KeyError) {
        let used = UsedKeys.Used.all(of: earlier)
        if let key = UsedKeys.revived(used, in: self) {
            throw KeyError(
                "the keys that are stored now are of an older copy: the \(key.kind.rawValue) key \(key.id), which was revoked, is in "
                    + "force again in them")
        }
        let living = used.filter { $0.forgetAt.map { now < $0 } ?? true }
        let missing = UsedKeys.missing(living, in: self, now: now)
        guard !missing.isEmpty else { return }
        let names = missing.prefix(8).map { key in
            switch key.kind {
            case .sealing: "the sealing key \(key.id), which opens artifacts of this service"
            case .signing: "the signing key \(key.id), which verifies tokens of this service"
            }
        }
        let more = missing.count > 8 ? [" and \(missing.count - 8) more"] : []
        throw KeyError("the keys that are stored now lack \((names + more).joined(separator: "; "))")
    }
}

extension KeyError {
    package static func explaining<Value>(_ operation: () throws(CryptoError) -> Value) throws(KeyError) -> Value {
        do throws(CryptoError) {
            return try operation()
        } catch {
            throw KeyError("a key cannot be made: \(error.description)")
        }
    }
}
