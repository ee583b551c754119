public import AssayCore

/// The outcome of appraising evidence (RFC 9334, section 4.2: attestation results).
///
/// A refusal is a value. A provider that cannot decide, because a store or an upstream does not answer, throws instead;
/// the kernel then issues no token.
@nonexhaustive public enum Verdict: Sendable {
    /// The evidence is genuine and fulfils the policy.
    case verified(Appraisal)
    /// The evidence is refused, by a reason; `detail` is for operators and holds no secret. `facts` are recorded, as
    /// those of an appraisal are: what could be read of the evidence, such as its key. They need not be verified: one whose
    /// value is not of its type is dropped, as those after the first 32 are, and the record's detail names it.
    case refused(Reason, detail: String? = nil, facts: [Fact] = [])

    /// A verdict without facts or reply fields.
    public static var verified: Verdict { .verified(Appraisal()) }
}

/// The facts that a provider found when it verified evidence.
public struct Appraisal: Sendable {
    /// The facts, under names that the provider's descriptor lists, at most 32.
    ///
    /// A value that is not of the type of its name is a fault of the provider: `Fact(checking:_:)` finds it.
    public var facts: [Fact]
    /// The fields of the reply in addition to the token, such as an artifact.
    public var reply: [ReplyField]
    /// The token lifetime that the evidence states, in whole seconds, 30 minutes to 7 days; nil for that of the policy.
    ///
    /// Any other value counts as a fault of the provider. It does not apply to limited-use tokens, which live five
    /// minutes.
    public var tokenLifetime: Duration?
    /// The holder of the evidence, such as the subject of a custom token; nil if all evidence is of one holder.
    ///
    /// If callers choose the `jti` of their tokens, a token of one holder never counts as a token of another one.
    public var holder: String?
    /// The device's key, which the token names in its claim `cnf`; nil for none.
    public var confirmation: ConfirmationKey?
    /// What the evidence uses up, at most 8: the kernel makes these changes in one step before it issues the token.
    public var uses: [EvidenceUse]
    /// The challenge that was found in the evidence, of a method that says so (`findsChallenge`); nil for all others.
    ///
    /// The kernel refuses the evidence unless the challenge is one of its own for the app and the provider, in time and not used.
    public var challenge: [UInt8]?

    /// Makes an appraisal; by default the token has the lifetime of the policy.
    public init(
        facts: [Fact] = [], reply: [ReplyField] = [], tokenLifetime: Duration? = nil, holder: String? = nil,
        confirmation: ConfirmationKey? = nil, uses: [EvidenceUse] = [], challenge: [UInt8]? = nil
    ) {
        self.facts = facts
        self.reply = reply
        self.tokenLifetime = tokenLifetime
        self.holder = holder
        self.confirmation = confirmation
        self.uses = uses
        self.challenge = challenge
    }
}
