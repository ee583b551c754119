internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayPolicy
internal import AssayVerifier

/// Judges App Check tokens by the keys and policies of the snapshot.
///
/// Every part of the engine that accepts tokens uses it.
package struct TokenInspection: Sendable {
    let scope: RequestScope
    /// The project that a token must be for.
    let project: ProjectBinding
    /// Whether tokens of providers for development are accepted.
    let acceptsDevelopment: Bool
    /// Whether tokens of OAuth clients are accepted.
    let acceptsOAuthClients: Bool

    /// A valid token, and the app that it was issued to.
    struct Accepted: Sendable {
        let token: VerifiedToken
        let app: AppBinding
        let project: ProjectBinding
        let provider: String
    }

    /// Why a token is refused.
    struct Refusal: Error {
        let reason: Reason
        var detail: String?
        /// The token, if its signature and its times are valid.
        var token: VerifiedToken?
    }

    func inspect(_ text: String) throws(Refusal) -> Accepted {
        let expectation = TokenVerifier.Expectation(
            issuer: project.issuer, audience: project.name)
        let token: VerifiedToken
        switch scope.snapshot.keys.verifier(at: scope.now).verify(text, expectation, now: scope.now) {
        case .refused(let reason): throw Refusal(reason: reason)
        case .verified(let verified): token = verified
        }
        guard let app = project.apps[token.subject] else {
            throw Refusal(reason: KernelReasons.tokenAppUnknown, token: token)
        }
        guard let provider = token.provider else {
            throw Refusal(
                reason: KernelReasons.tokenProviderUnsupported, detail: "the token names no provider", token: token)
        }
        guard acceptsOAuthClients || app.identity.kind != .oauthClient else {
            throw Refusal(reason: KernelReasons.tokenOfOAuthClient, token: token)
        }
        if let obstacle = scope.denials.obstacle(aboutEvidence: false, of: app, at: scope.now) {
            throw Refusal(reason: KernelReasons.tokenDenied, detail: obstacle, token: token)
        }
        if let denial = scope.denial(ofToken: token.id, app: app) {
            throw Refusal(reason: KernelReasons.tokenDenied, detail: denial.words, token: token)
        }
        let accepted = Accepted(token: token, app: app, project: project, provider: provider)
        if provider.isExactly(MintedTokens.provider) { return accepted }
        guard let descriptor = scope.snapshot.policies.descriptors[provider] else {
            throw Refusal(reason: KernelReasons.tokenProviderUnsupported, detail: provider, token: token)
        }
        guard app.providers[provider] != nil else {
            throw Refusal(reason: KernelReasons.tokenProviderNotAllowed, detail: provider, token: token)
        }
        guard acceptsDevelopment || !descriptor.isForDevelopment else {
            throw Refusal(reason: KernelReasons.tokenForDevelopment, detail: provider, token: token)
        }
        return accepted
    }
}

/// Judges the token of one request to a consumer by the consumer's demand.
struct TokenAdmission: Sendable {
    let scope: RequestScope
    let project: ProjectBinding
    let demand: TokenDemand

    /// The token of a request that has exactly one, and not in a URL.
    ///
    /// - Throws: the reason why no token can be judged.
    static func text(of token: PresentedToken?) throws(TokenInspection.Refusal) -> String {
        switch token {
        case nil: throw TokenInspection.Refusal(reason: KernelReasons.tokenMissing)
        case .several?: throw TokenInspection.Refusal(reason: KernelReasons.tokenRepeated)
        case .inURL?: throw TokenInspection.Refusal(reason: KernelReasons.tokenInURL)
        case .one(let text)?: return text
        }
    }

    /// - Throws: the reason why the token is not accepted.
    func judge(_ token: PresentedToken?) throws(TokenInspection.Refusal) -> TokenInspection.Accepted {
        try judge(TokenAdmission.text(of: token))
    }

    func judge(_ text: String) throws(TokenInspection.Refusal) -> TokenInspection.Accepted {
        let accepted = try TokenInspection(
            scope: scope, project: project, acceptsDevelopment: demand.acceptsDevelopment,
            // A policy that names apps also decides about OAuth clients.
            acceptsOAuthClients: demand.acceptsOAuthClients || demand.apps != nil
        ).inspect(text)
        let refused = { (reason: Reason) in TokenInspection.Refusal(reason: reason, token: accepted.token) }
        if let providers = demand.providers, !providers.contains(accepted.provider) {
            throw refused(KernelReasons.tokenProviderNotAllowed)
        }
        if let apps = demand.apps, !apps.contains(accepted.token.subject) {
            throw refused(KernelReasons.tokenAppNotAllowed)
        }
        if demand.requiresLimitedUse, !accepted.token.isLimitedUse { throw refused(KernelReasons.tokenNotLimitedUse) }
        if let age = demand.maximumAge, scope.now - accepted.token.issued > age {
            throw refused(KernelReasons.tokenTooOld)
        }
        return accepted
    }

    /// The rule by which the use of an accepted token counts; nil when it does not count.
    func consumption(of accepted: TokenInspection.Accepted) -> TokenConsumption? {
        TokenConsumption(
            of: accepted, enforcement: demand.enforcement, replayProtection: demand.replayProtection, scope)
    }
}

extension VerifiedToken {
    /// Whether it can be used only once: no session token has so short a lifetime.
    var isLimitedUse: Bool { expires - issued <= TokenLifetime.limitedUse }
}
