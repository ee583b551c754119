public import AssayCore
internal import AssayCrypto
public import AssayEngine

/// Facts about a key at a time; never the key itself.
public struct KeyDescription: Sendable, Equatable {
    /// What a key is for.
    @nonexhaustive public enum Purpose: String, Sendable {
        /// Tokens.
        case signing
        /// Artifacts and challenges.
        case sealing
    }

    /// What a key does.
    @nonexhaustive public enum State: String, Sendable {
        /// The key is published, or opens, but does not sign or seal yet.
        case prepared
        /// The key signs, or seals.
        case active
        /// The key no longer signs or seals.
        ///
        /// A signing key is published until its last token has expired; a sealing key opens forever.
        case retired
        /// A signing key that is no longer published, because no valid token names it.
        case expired
        /// A signing key that was taken out of the key set before its tokens had expired.
        case revoked
    }

    /// What happens when its time comes, without an operator.
    @nonexhaustive public enum Event: String, Sendable {
        /// The key may be activated from then on.
        case activatable
        /// The key begins to sign or seal automatically.
        case begins
        /// Another key takes its place.
        case retires
        /// The key leaves the key set.
        case unpublished
    }

    /// What the key is for.
    public let purpose: Purpose
    /// The `kid` of a signing key; of a sealing key eight hexadecimal digits, which artifacts name it by.
    @Exact public private(set) var id: String
    /// `RS256`, `ES256` or `AES-256-GCM`.
    @Exact public private(set) var algorithm: String
    /// The size of the key.
    public let bits: Int
    /// What the key does at that time.
    public let state: State
    /// When it was made.
    public let created: Instant
    /// The time from which the key may be, or could have been, activated.
    public let ready: Instant
    /// The time since which it is retired, expired or revoked.
    public let since: Instant?
    /// What happens next automatically, and when.
    public let next: Next?

    /// Something that happens at a time.
    public struct Next: Sendable, Equatable {
        /// What happens.
        public let event: Event
        /// When it happens.
        public let at: Instant

        /// An event and its time.
        public init(event: Event, at: Instant) {
            self.event = event
            self.at = at
        }
    }
}

extension KeyRing {
    /// The position of a key in the ring.
    package enum Place: Sendable, Equatable {
        case signing(Int)
        case sealing(Int)
    }

    /// All keys as they are at a time, those that sign first, the newest of each kind first.
    package func descriptions(at now: Instant) -> [KeyDescription] {
        signing.indices.map { describe(.signing($0), at: now) }
            + sealing.indices.map { describe(.sealing($0), at: now) }
    }

    package func describe(_ place: Place, at now: Instant) -> KeyDescription {
        switch place {
        case .signing(let index):
            let key = signing[index]
            let bits = if case .rsa(let bits) = key.key.kind { bits } else { key.algorithm == .es384 ? 384 : 256 }
            let facts = KeyRing.facts(signing, index, publication: KeyRing.publication, at: now)
            return KeyDescription(
                purpose: .signing, id: key.id, algorithm: key.algorithm.rawValue, bits: bits, state: facts.state,
                created: key.times.created, ready: key.times.ready, since: facts.since, next: facts.next)
        case .sealing(let index):
            let key = sealing[index]
            let facts = KeyRing.facts(sealing, index, publication: nil, at: now)
            return KeyDescription(
                purpose: .sealing, id: Hex.encode(key.id), algorithm: "AES-256-GCM", bits: 256, state: facts.state,
                created: key.times.created, ready: key.times.ready, since: facts.since, next: facts.next)
        }
    }

    private struct Facts {
        let state: KeyDescription.State
        var since: Instant?
        var next: KeyDescription.Next?
    }

    /// - Parameter publication: nil for keys that are used forever.
    private static func facts<Key: RingKey>(
        _ keys: [Key], _ index: Int, publication: Duration?, at now: Instant
    ) -> Facts {
        let times = keys[index].times
        switch keys.state(of: index, at: now) {
        case .prepared:
            if let begins = times.begins { return Facts(state: .prepared, next: .init(event: .begins, at: begins)) }
            return Facts(
                state: .prepared, next: times.ready > now ? .init(event: .activatable, at: times.ready) : nil)
        case .active:
            return Facts(
                state: .active, next: keys.retirement(of: index).map { KeyDescription.Next(event: .retires, at: $0) })
        case .retired(let since):
            guard let publication else { return Facts(state: .retired, since: since) }
            let end = since + publication
            guard now < end else { return Facts(state: .expired, since: end) }
            return Facts(state: .retired, since: since, next: .init(event: .unpublished, at: end))
        case .revoked(let since):
            return Facts(state: .revoked, since: since)
        }
    }
}

extension Engine {
    /// The keys that the engine uses, as they are at a time.
    public func keyDescriptions(at now: Instant) -> [KeyDescription] { keyRing.descriptions(at: now) }
}
