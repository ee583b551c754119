internal import AssayCrypto
public import AssayKit

/// What a proof that was used is remembered by.
public struct UsedProof: Sendable, Hashable {
    /// The name of the entry: nothing of the proof can be read from it.
    @Exact public private(set) var name: String
    /// From when on the proof is too old to be taken anyway.
    public let forgetAt: Instant
    /// What a second use is refused with.
    public let refusal: ClientRefusal

    /// How much longer proofs are remembered, should a clock be set back.
    static let memory = Duration.seconds(600)

    /// - Parameters:
    ///   - kind: which kind of proof it is; each has identifiers of its own.
    ///   - id: `jti`.
    ///   - end: until when the proof would be taken.
    init(kind: String, key: ClientKey, id: String, until end: Instant, refusal: ClientRefusal) {
        let parts = [kind, key.thumbprint, id].map { Array($0.utf8) }
        name = Hex.encode(SHA256.hash(parts.flatMap { UInt64($0.count).bigEndianBytes + $0 }))
        forgetAt = end + UsedProof.memory
        self.refusal = refusal
    }
}

/// Which proofs were used, in a sliding window: each is remembered for as long as it would be taken.
public struct ProofMemory: Sendable {
    private let state: StateSpace

    public init(_ state: StateSpace) {
        self.state = state
    }

    /// Remembers proofs that passed every other check. Looking up and remembering is one step: of requests at the same time
    /// with the same proof, one gets through.
    ///
    /// - Throws: ``ClientRefusal`` when one of them was used before; what the store throws when that cannot be told.
    public func remember(_ proofs: [UsedProof]) async throws {
        for proof in proofs {
            guard try await state.insert(proof.name, expires: proof.forgetAt) else { throw proof.refusal }
        }
    }
}
