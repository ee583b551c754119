public import AssayCore
internal import AssayCrypto
public import AssayKit

/// A proof that passed every check except whether it was used before, as ``ProofMemory`` takes it.
public struct UsedProof: Sendable, Hashable {
    /// The name of the entry: nothing of the proof can be read from it.
    @Exact public private(set) var name: String
    /// When it can have been made at the earliest: a client's clock may be ahead.
    public let made: Instant
    /// From when on no policy accepts it.
    public let end: Instant
    /// When the challenge or nonce was made that it answers; nil for none.
    public internal(set) var challenged: Instant?
    /// What a second use is refused with.
    public let refusal: ClientRefusal
    /// What it is refused with if it may have been used before the state began.
    public internal(set) var refusalBeforeState: ClientRefusal

    /// - Parameters:
    ///   - kind: which kind of proof it is; each has identifiers of its own.
    ///   - id: `jti`.
    ///   - made: when it can have been made at the earliest.
    ///   - end: from when on no policy accepts it.
    init(
        kind: String, key: ClientKey, id: String, made: Instant, end: Instant, refusal: ClientRefusal,
        refusalBeforeState: ClientRefusal
    ) {
        let parts = [kind, key.thumbprint, id].map { Array($0.utf8) }
        name = Hex.encode(SHA256.hash(parts.flatMap { UInt64($0.count).bigEndianBytes + $0 }))
        self.made = made
        self.end = end
        self.refusal = refusal
        self.refusalBeforeState = refusalBeforeState
    }

    /// Until when a proof that says when it was made is accepted, under any policy.
    static func end(ofIssued issued: Instant) -> Instant { issued + longestWindow + .milliseconds(1) }

    /// The longest time for which any policy accepts a proof.
    static let longestWindow = AttestationVerifierConfiguration.windows.upperBound

    /// Whether it is known that it was made since a state began: it answers a challenge that is younger.
    fileprivate func isMade(since beginning: Instant?) -> Bool {
        guard let beginning, let challenged else { return false }
        return challenged >= beginning
    }
}

/// The used proofs: each is remembered for as long as any policy could accept it.
public struct ProofMemory: Sendable {
    private static let kind = OneTimeKind(
        longestLife: UsedProof.longestWindow, skew: .zero, margin: .seconds(600))

    private let state: StateSpace

    /// Makes a memory of proofs that is kept in a state space.
    public init(_ state: StateSpace) {
        self.state = state
    }

    /// Remembers proofs that passed every other check.
    ///
    /// Looking up and remembering is one step: of requests at the same time with the same proof, one gets through. A proof
    /// that may have been used before the state began is refused, unless it answers a challenge that was made since.
    ///
    /// - Throws: ``ClientRefusal`` when one of them was used before, or may have been; `OneTimeUse.Undecided`, or the store's
    ///   error, when that cannot be decided.
    public func remember(_ proofs: [UsedProof]) async throws {
        let things = proofs.map { proof in
            OneTimeThing(
                proof.name, made: proof.made, end: proof.end, isOfThisState: proof.isMade(since: state.beginning))
        }
        guard let (index, outcome) = try await OneTimeUse(of: Self.kind, in: state).use(things) else { return }
        throw outcome == .olderThanState ? proofs[index].refusalBeforeState : proofs[index].refusal
    }
}
