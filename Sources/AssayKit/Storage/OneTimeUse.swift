public import AssayCore

/// A kind of things that are valid once, such as challenges or DPoP proofs: how long one can be valid, and by how much
/// clocks may differ.
///
/// Nothing of it comes from a policy, because another section, another server, or the policy of tomorrow may accept a thing
/// for longer than the one that accepts it now.
public struct OneTimeKind: Sendable, Hashable {
    /// How long after it was made a thing can be valid at most, under any policy.
    public let longestLife: Duration
    /// How far the clock of the maker may be ahead, under any policy that matters for the beginning of the state: a thing
    /// that says it was made less than that after the beginning may have been made before it.
    public let skew: Duration
    /// How much longer than valid a thing is remembered, in case a clock is set back.
    public let margin: Duration

    /// Things that tell when they were made, and are valid for the same time everywhere.
    ///
    /// They are remembered for five minutes longer.
    ///
    /// - Parameters:
    ///   - life: how long after it was made a thing is valid.
    ///   - skew: by how much the clock of the device or server that makes things may be ahead.
    public init(validFor life: Duration, skew: Duration = .seconds(60)) {
        self.init(longestLife: life, skew: skew, margin: .seconds(300))
    }

    /// Things that tell no time, such as tokens of another service: ``OneTimeThing/init(_:untimedUntil:)``.
    public static let untimed = OneTimeKind(longestLife: .zero, skew: .zero, margin: .zero)

    /// Whether a thing that was made at one time is valid at another: not too old, and not from the future.
    public func isValid(made: Instant, at now: Instant) -> Bool {
        (.zero - skew...longestLife).contains(now - made)
    }

    /// Makes a kind.
    public init(longestLife: Duration, skew: Duration, margin: Duration) {
        self.longestLife = longestLife
        self.skew = skew
        self.margin = margin
    }
}

/// One thing that is valid once.
public struct OneTimeThing: Sendable, Hashable {
    /// What it is remembered by: a name that no other thing of its namespace has.
    @Exact public private(set) var name: String
    /// When it was made at the earliest; nil when nothing tells.
    public let made: Instant?
    /// From when on it is valid nowhere; nil for the longest life of its kind.
    public let end: Instant?
    /// Whether it is known to be made since the state began, because it names the state, or something of it.
    public let isOfThisState: Bool

    /// A thing that tells when it was made.
    ///
    /// - `end`: from when on it is valid nowhere, if it tells that too.
    /// - `isOfThisState`: whether it names the state, or something that was made in it.
    public init(_ name: String, made: Instant, end: Instant? = nil, isOfThisState: Bool = false) {
        self.name = name
        self.made = made
        self.end = end
        self.isOfThisState = isOfThisState
    }

    /// A thing that tells no time, such as a token of another service.
    ///
    /// If the state is lost, a thing that was used before can be used once more.
    ///
    /// - `end`: until when it is remembered.
    public init(_ name: String, untimedUntil end: Instant) {
        self.name = name
        made = nil
        self.end = end
        isOfThisState = false
    }
}

/// Remembers which things of one kind were used: the only way in which the kernel and plugins accept something once.
///
///     let uses = OneTimeUse(of: Self.proofs, in: context.state.subspace("proofs"))
///     guard try await uses.use(OneTimeThing(proof.id, made: proof.created)) == .first else { … }
///
/// Each use is one step of the store: of any number of concurrent calls with one thing, on all servers of a state, one is
/// the first, also after a crash. What was made before the state began counts as used, because nobody knows.
public struct OneTimeUse: Sendable {
    /// What is known of a thing.
    public enum Outcome: Sendable, Hashable {
        /// It was not used before, and is now.
        case first
        /// It was used before, with this value.
        case used(value: [UInt8])
        /// It may have been used before the state began.
        case olderThanState
    }

    /// The state cannot tell whether something was used: it refuses the use as one that ended before what it has removed.
    public struct Undecided: Error, Sendable, Hashable, CustomStringConvertible {
        /// The cause, and where the way out is described.
        public var description: String {
            "unknown whether it was used: the state has removed later entries; a clock was ahead (see \"The clock was "
                + "wrong\" in the documentation), or the use ends in the past, because its OneTimeKind is too short"
        }

        /// Makes the error.
        public init() {}
    }

    private let kind: OneTimeKind
    private let space: StateSpace

    /// - Parameters:
    ///   - kind: what the things are.
    ///   - space: their namespace, which knows since when the state is complete, such as `context.state`. Where it does not,
    ///     as in `PluginHost.space`, everything that tells a time may be older than the state.
    public init(of kind: OneTimeKind, in space: StateSpace) {
        self.kind = kind
        self.space = space
    }

    /// Uses a thing.
    ///
    /// - Parameter value: what is stored with the use, for whoever uses the thing again.
    /// - Throws: ``Undecided``; the error of the store. It is then unknown whether the use is stored.
    public func use(_ thing: OneTimeThing, value: [UInt8] = []) async throws -> Outcome {
        try await use([thing], value: value)?.outcome ?? .first
    }

    /// Uses several things, all or none.
    ///
    /// - Returns: nil when all are used now; otherwise the first one that was not to be used, and why.
    /// - Throws: ``Undecided``; the error of the store. It is then unknown whether the uses are stored.
    public func use(
        _ things: [OneTimeThing], value: [UInt8] = []
    ) async throws -> (index: Int, outcome: Outcome)? {
        if let index = things.firstIndex(where: isOlderThanState) { return (index, .olderThanState) }
        guard !things.isEmpty, let refused = try await space.commit(things.map { change(for: $0, value: value) })
        else { return nil }
        guard things.indices.contains(refused), let earlier = try await space.get(things[refused].name) else {
            throw Undecided()
        }
        return (refused, .used(value: earlier))
    }

    /// Whether a thing was used, or may have been before the state began; it is not used by that.
    ///
    /// - Throws: the error of the store.
    public func isUsed(_ thing: OneTimeThing) async throws -> Bool {
        if isOlderThanState(thing) { return true }
        return try await space.get(thing.name) != nil
    }

    /// Whether a thing may have been used before the state began.
    public func isOlderThanState(_ thing: OneTimeThing) -> Bool {
        guard let made = thing.made, !thing.isOfThisState else { return false }
        guard let beginning = space.beginning else { return true }
        return made < beginning + kind.skew
    }

    /// The use as a change for an atomic commit, such as an `EvidenceUse`; ask ``isOlderThanState(_:)`` before.
    public func change(for thing: OneTimeThing, value: [UInt8] = []) -> StateChange {
        let end = thing.end ?? thing.made.map { $0 + kind.longestLife }
        return space.inserting(thing.name, value: value, expires: end.map { $0 + kind.margin }, isListed: false)
    }
}

extension StateStore {
    /// What it means that a commit was refused because of a change: returns when something is there.
    ///
    /// - Throws: ``OneTimeUse/Undecided`` when nothing is there: the store has removed entries that end later.
    package func checkRefusal(of change: StateChange) async throws {
        guard case .insert(let key, _, _, _) = change else { return }
        if try await get(key) == nil { throw OneTimeUse.Undecided() }
    }
}
