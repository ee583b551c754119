public import AssayCrypto

/// What is demanded of every proof that a client holds its key.
public struct ProofRules: Sendable, Hashable {
    /// The algorithms that proofs may be signed with; all are asymmetric.
    public var algorithms: Set<JWSAlgorithm>
    /// How old a proof may be.
    public var window: Duration
    /// How far a client's clock may be ahead.
    public var skew: Duration
    /// Whether the shapes of drafts before the tenth are taken as well.
    public var acceptsOlderDrafts: Bool

    public init(
        algorithms: Set<JWSAlgorithm> = Set(JWSAlgorithm.allCases), window: Duration = .seconds(300),
        skew: Duration = .seconds(30), acceptsOlderDrafts: Bool = false
    ) {
        self.algorithms = algorithms
        self.window = window
        self.skew = skew
        self.acceptsOlderDrafts = acceptsOlderDrafts
    }
}
