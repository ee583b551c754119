public import AssayKit

/// Why a proof of possession is refused: the reasons that both kinds of proofs have.
public struct ProofReasons: Sendable {
    public let several: Reason
    public let malformed: Reason
    public let type: Reason
    public let algorithm: Reason
    public let signature: Reason
    public let claim: Reason
    public let stale: Reason
    public let notYetValid: Reason
    public let replayed: Reason

    /// - Parameters:
    ///   - prefix: what the codes begin with.
    ///   - what: what the proof is, as the beginning of a sentence.
    init(prefix: String, what: String) {
        several = Reason("\(prefix)_several", "There is more than one: \(what).")
        malformed = Reason("\(prefix)_malformed", "\(what) is not a JWT.")
        type = Reason("\(prefix)_type", "\(what) is of another type, by its `typ`.")
        algorithm = Reason("\(prefix)_algorithm", "\(what) names an algorithm that is not taken, or not its key's.")
        signature = Reason("\(prefix)_signature", "\(what) has a wrong signature.")
        claim = Reason("\(prefix)_claim", "\(what) lacks a claim that it must have.")
        stale = Reason("\(prefix)_stale", "\(what) is too old.")
        notYetValid = Reason("\(prefix)_not_yet_valid", "\(what) was made in the future.")
        replayed = Reason("\(prefix)_replayed", "\(what) was used before.")
    }

    var all: [Reason] {
        [several, malformed, type, algorithm, signature, claim, stale, notYetValid, replayed]
    }
}
