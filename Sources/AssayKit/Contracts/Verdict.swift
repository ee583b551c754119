/// The outcome of appraising evidence (RFC 9334, section 4.2: attestation results).
///
/// A refusal is a value. A provider that cannot decide, because a store or an upstream does not answer, throws instead;
/// the kernel never makes a token of that.
public enum Verdict: Sendable {
    /// The evidence is genuine and fulfils the policy.
    case verified(Appraisal)
    /// The evidence is not good enough, and why; `detail` helps an operator and holds no secret. `facts` are on record, as those
    /// of an appraisal are: what the evidence says of itself, such as which key it is of, where that could be read. Nothing of
    /// them needs to be verified.
    case refused(Reason, detail: String? = nil, facts: [Fact] = [])

    /// A verdict without facts or reply fields.
    public static var verified: Verdict { .verified(Appraisal()) }
}

/// What a provider found when it verified evidence.
public struct Appraisal: Sendable {
    /// What was learned, under names that the provider's descriptor lists.
    public var facts: [Fact]
    /// What the reply carries beside the token, such as an artifact.
    public var reply: [ReplyField]
    /// The life of the token where the evidence itself says one, in whole seconds, 30 minutes to 7 days; nil for what the
    /// policy says. The kernel takes anything else for a fault of the provider, whose policy may set a narrower range.
    /// Limited-use tokens live five minutes all the same.
    public var tokenLifetime: Duration?
    /// Who showed the evidence, where the provider can tell several apart, such as the subject of a custom token. Where
    /// callers choose the `jti` of their tokens, a token of one holder never counts as a token of another one. Nil where
    /// all evidence of the provider is of one holder.
    public var holder: String?

    public init(
        facts: [Fact] = [], reply: [ReplyField] = [], tokenLifetime: Duration? = nil, holder: String? = nil
    ) {
        self.facts = facts
        self.reply = reply
        self.tokenLifetime = tokenLifetime
        self.holder = holder
    }
}

/// A field of a reply, beside what the kernel puts there.
public struct ReplyField: Sendable, Hashable {
    /// The name in lowerCamelCase.
    @Exact public private(set) var name: String
    public let value: JSON

    public init(_ name: String, _ value: JSON) {
        self.name = name
        self.value = value
    }

    /// A field of bytes: standard, padded Base 64, the one form that Apple's decoders read.
    public static func bytes(_ name: String, _ bytes: some Collection<UInt8>) -> ReplyField {
        ReplyField(name, .string(Base64.encode(bytes)))
    }
}
