internal import AssayCore
internal import AssayCrypto
internal import AssayPolicy

/// All keys of a service, the newest of each kind first.
///
/// Immutable: a change makes another ring.
struct KeyRing: Sendable {
    /// How long a key stays published after another took its place: the longest lifetime of a token, and a day for
    /// servers that share the keys and load a change later.
    static let publication = Duration.seconds(8 * 86_400)
    /// How long a key is published before it signs: as long as a fetched key set is kept, as long as servers and caches may
    /// hand out one without the key as a present one, and five minutes for servers that are slow or begin meanwhile.
    static let signingLead = KeyStore.keySetLifetime + KeyStore.publicationLimit + .seconds(300)
    /// How many keys an operator can make before earlier ones have left: readers of key sets limit their number.
    private static let signingLimit = 32
    /// The most sealing keys: they stay forever, and the file that holds them is bounded.
    private static let sealingLimit = 4096

    /// What makes signing keys.
    var maker = SigningKeyMaker.fresh
    var signing: [SigningKey] = []
    /// The sealing keys; each of them opens forever, unless it is revoked.
    var sealing: [SealingKey] = []

    /// The sealing keys that open what they sealed.
    var openers: [SealingKey] { sealing.filter { $0.times.revoked == nil } }

    /// When a signing key stops being published; nil when that is not known.
    func publicationEnd(of index: Int) -> Instant? {
        signing.retirement(of: index).map { $0 + KeyRing.publication }
    }

    /// The public halves of the signing keys that verify tokens, and until when each does; nil where that is not known.
    ///
    /// Revoked keys are left out.
    var published: [(key: JWK, until: Instant?)] {
        signing.indices.filter { signing[$0].times.revoked == nil }.map { (signing[$0].jwk, publicationEnd(of: $0)) }
    }

    /// Adds a new signing key.
    @discardableResult
    mutating func addSigningKey(_ kind: TokenPolicy, _ times: KeyTimes) throws(KeyError) -> SigningKey {
        guard signing.count < KeyRing.signingLimit * 2 else { throw KeyError("there are too many signing keys") }
        let key = try KeyError.explaining { () throws(CryptoError) in
            var key = try maker.key(of: kind, times, number: signing.count)
            // An identifier that begins with a hyphen is hard to pass to a command.
            while key.id.starts(withExactly: "-") || signing.contains(where: { $0.id.isExactly(key.id) }) {
                key = try SigningKey.generate(kind, times: times)
            }
            return key
        }
        signing.insert(key, at: 0)
        return key
    }

    /// Adds a new sealing key.
    @discardableResult
    mutating func addSealingKey(_ times: KeyTimes, randomness: Randomness) throws(KeyError) -> SealingKey {
        guard sealing.count < KeyRing.sealingLimit else { throw KeyError(refusal: "there are too many sealing keys") }
        let key = try KeyError.explaining { () throws(CryptoError) in
            var key = try SealingKey.generate(times, randomness: randomness)
            while sealing.contains(where: { $0.id == key.id }) {
                key = try SealingKey.generate(times, randomness: randomness)
            }
            return key
        }
        sealing.insert(key, at: 0)
        return key
    }

    /// Removes keys that no valid token can name, if there are many of them.
    mutating func makeRoom(at now: Instant) {
        if signing.count >= KeyRing.signingLimit { prune(at: now) }
    }

    /// - Throws: a refusal when so many keys have been made that their set would become too large for its readers.
    func checkRoomForSigningKey() throws(KeyError) {
        guard signing.count < KeyRing.signingLimit else {
            throw KeyError(
                refusal: "there are \(signing.count) signing keys: wait until some of the retired ones have expired")
        }
    }

    /// Whether it holds the same keys with the same times as another.
    func isSame(as other: KeyRing) -> Bool {
        signing.elementsEqual(other.signing) { $0.id.isExactly($1.id) && $0.times == $1.times }
            && sealing.elementsEqual(other.sealing) {
                $0.id == $1.id && $0.times == $1.times && $0.secret == $1.secret
            }
    }

    /// - Throws: when a key of an earlier ring is missing although it is still needed: artifacts that it sealed could
    ///   not be opened, or tokens that it signed could not be verified.
    func checkFollows(_ earlier: KeyRing, now: Instant) throws(KeyError) {
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
    static func explaining<Value>(_ operation: () throws(CryptoError) -> Value) throws(KeyError) -> Value {
        do throws(CryptoError) {
            return try operation()
        } catch {
            throw KeyError("a key cannot be made: \(error.description)")
        }
    }
}
