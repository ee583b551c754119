public import AssayCore
public import AssayKit

/// Evidence of one kind that a provider must refuse, and that only the author of a simulated device can make.
///
/// A suite changes bytes of genuine evidence. It cannot sign: only the author's simulator can make evidence that is authentic in
/// every other respect, and wrong in one. The names follow the roles of RFC 9334. An author may add kinds of the provider's own:
///
///     adversaries: [
///         .wrongAuthority: .request { device in … },
///         .future: .impossible("the evidence has no time: only its challenge ends"),
///         Adversary("software-key", "evidence of a key that is in no hardware gets no token"): .request { device in … },
///     ]
public struct Adversary: Sendable, Hashable {
    /// The name: lower-case words with hyphens.
    ///
    /// The line of the report is `adversary-` and the name.
    @Exact public private(set) var name: String
    /// The rule that the provider must keep, in words.
    @Exact public private(set) var rule: String

    /// Names a kind of the provider's own.
    public init(_ name: String, _ rule: String) {
        self.name = name
        self.rule = rule
    }

    /// Whether two have one name.
    public static func == (left: Adversary, right: Adversary) -> Bool { left.name.isExactly(right.name) }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { name.hashExactly(into: &hasher) }

    /// An attester that another authority certified than the policy trusts: the same chain under another root.
    public static let wrongAuthority = Adversary(
        "wrong-authority", "evidence under an authority that the policy does not trust gets no token")
    /// An attester that signs with another key than the one that it names, or that was attested.
    public static let otherKey = Adversary("other-key", "evidence by another key than the attester's gets no token")
    /// Another app (package, bundle identifier, signer) on a genuine device, with a challenge of this app.
    public static let otherApp = Adversary("other-app", "evidence that another app made gets no token")
    /// A genuine device whose state the policy does not accept: unlocked, modified, of a development environment.
    public static let untrustedDevice = Adversary(
        "untrusted-device", "evidence of a device in a state that the policy does not accept gets no token")
    /// Evidence that is bound to another challenge than the one in the request.
    public static let otherChallenge = Adversary(
        "other-challenge", "evidence for another challenge than the request's gets no token")
    /// Evidence, or a certificate of it, whose own time has ended.
    public static let expired = Adversary("expired", "evidence whose time has ended gets no token")
    /// Evidence, or a certificate of it, whose own time has not begun.
    public static let future = Adversary("future", "evidence whose time has not begun gets no token")
    /// Evidence that is signed as it should be, and whose content has not the form of genuine evidence.
    public static let malformed = Adversary("malformed", "what is authentic and has a wrong form is refused")
    /// Evidence with a weaker algorithm, an older format or a lower level of protection than the policy accepts.
    public static let downgraded = Adversary("downgraded", "evidence with weaker protection gets no token")

    /// A request for something that the policy does not grant, from a client with a good token.
    public static let notGranted = Adversary("not-granted", "a request for what the policy does not grant is refused")

    /// The kinds of which each exchange of a provider has evidence, or says why it cannot be made.
    public static let ofProviders = [
        wrongAuthority, otherKey, otherApp, untrustedDevice, otherChallenge, expired, future, malformed, downgraded,
    ]
    /// The kinds of which each kind of request to a consumer has one, or says why it cannot be made.
    public static let ofConsumers = [notGranted, malformed]
}

/// How an author makes a request that must be refused, or why it cannot be made.
///
/// `Maker` is what makes it, such as a ``TestDevice``; `Made` is what is made, such as the body of the request.
public struct AdversaryEvidence<Maker: Sendable, Made: Sendable>: Sendable {
    enum Source: Sendable {
        case request(Reason?, @Sendable (Maker) async throws -> Made)
        case impossible(String)
    }

    let source: Source

    /// Makes a request that must be refused.
    ///
    /// - Parameter reason: the reason of the refusal; nil for any that the descriptor declares. With it, the check also finds
    ///   evidence that is refused for something else that is wrong with it.
    public static func request(
        _ reason: Reason? = nil, _ make: @escaping @Sendable (Maker) async throws -> Made
    ) -> AdversaryEvidence {
        AdversaryEvidence(source: .request(reason, make))
    }

    /// Says why there is no such request; the report repeats it as what was not looked at.
    public static func impossible(_ why: String) -> AdversaryEvidence {
        AdversaryEvidence(source: .impossible(why))
    }
}
