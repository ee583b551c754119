package import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayPolicy
internal import AssayVerifier

/// Judges the App Check token of one request by the keys and policies of the snapshot, and by a demand.
///
/// Every part of the engine that accepts tokens uses it.
package struct TokenInspection: Sendable {
    let scope: RequestScope
    /// The project that a token must be for.
    let project: ProjectBinding
    /// What is demanded of the token in addition to its validity.
    let demand: TokenDemand

    /// A valid token, and the app that it was issued to.
    struct Accepted: Sendable {
        let token: VerifiedToken
        let app: AppBinding
        let project: ProjectBinding
        let provider: String
    }

    /// Why a token is refused.
    package struct Refusal: Error {
        let reason: Reason
        var detail: String?
        /// The token, if its signature and its times are valid.
        var token: VerifiedToken?
    }

    /// The token of a request that has exactly one, and not in a URL.
    ///
    /// - Throws: the reason why no token can be judged.
    static func text(of token: PresentedToken?) throws(Refusal) -> String {
        switch token {
        case nil: throw Refusal(reason: KernelReasons.tokenMissing)
        case .several?: throw Refusal(reason: KernelReasons.tokenRepeated)
        case .inURL?: throw Refusal(reason: KernelReasons.tokenInURL)
        case .one(let text)?: return text
        }
    }

    /// - Throws: the reason why the token is not accepted.
    func judge(_ token: PresentedToken?) throws(Refusal) -> Accepted { try judge(Self.text(of: token)) }

    /// - Throws: the reason why the token is not accepted.
    func judge(_ text: String) throws(Refusal) -> Accepted {
        let expectation = TokenVerifier.Expectation(issuer: project.issuer, audience: project.name)
        let token: VerifiedToken
        switch scope.snapshot.keys.verifier(at: scope.now).verify(text, expectation, now: scope.now) {
        case .refused(let reason): throw Refusal(reason: reason)
        case .verified(let verified): token = verified
        }
        let judgement = scope.snapshot.policies.judge(KnownToken(token), for: project, demand: demand, at: scope.now) {
            scope.denial(ofToken: token.id, app: $0)
        }
        switch judgement {
        case .accepted(let app, let provider):
            return Accepted(token: token, app: app, project: project, provider: provider)
        case .refused(let reason, let detail): throw Refusal(reason: reason, detail: detail, token: token)
        // A server knows all of its tokens.
        case .unknown(let missing): throw Refusal(reason: KernelReasons.tokenDenied, detail: missing, token: token)
        }
    }

    /// The rule by which the use of an accepted token counts; nil when it does not count.
    func consumption(of accepted: TokenInspection.Accepted) -> TokenConsumption? {
        TokenConsumption(
            of: accepted, enforcement: demand.enforcement, replayProtection: demand.replayProtection, scope)
    }
}

extension Waived {
    init(_ refusal: TokenInspection.Refusal) {
        self.init(refusal.reason, refusal.detail)
    }
}

extension VerifiedToken {
    /// Whether it can be used only once: no session token has so short a lifetime.
    var isLimitedUse: Bool { expires - issued <= TokenLifetime.limitedUse }
}

extension TokenInspection.Refusal {
    package init(of reason: Reason) { self.init(reason: reason) }
}
