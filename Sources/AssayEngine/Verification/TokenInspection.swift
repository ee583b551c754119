internal import AssayCrypto
internal import AssayKit
internal import AssayVerifier

/// Judges App Check tokens by the present keys and policies, as everything does that accepts them here.
struct TokenInspection: Sendable {
    let scope: DecisionScope
    /// The project that a token must be for.
    let project: ProjectEntry
    /// Whether tokens of providers for development are good.
    let acceptsDevelopment: Bool
    /// Whether tokens of OAuth clients are good.
    let acceptsOAuthClients: Bool

    /// A good token, and the app that it speaks for.
    struct Good: Sendable {
        let token: VerifiedToken
        let app: AppEntry
        let project: ProjectEntry
        let provider: String
    }

    /// Why a token is not good.
    struct Refusal: Error {
        let reason: Reason
        var detail: String?
        /// What is known of the token when its signature and its times are good.
        var token: VerifiedToken?
    }

    func inspect(_ text: String) throws(Refusal) -> Good {
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
            throw Refusal(reason: KernelReasons.tokenProviderUnsupported, detail: "the token names none", token: token)
        }
        guard acceptsOAuthClients || app.identity.kind != .oauthClient else {
            throw Refusal(reason: KernelReasons.tokenOfOAuthClient, token: token)
        }
        let good = Good(token: token, app: app, project: project, provider: provider)
        if provider.isExactly(MintedTokens.provider) { return good }
        guard let descriptor = scope.snapshot.policies.descriptors[provider] else {
            throw Refusal(reason: KernelReasons.tokenProviderUnsupported, detail: provider, token: token)
        }
        guard app.providers[provider] != nil else {
            throw Refusal(reason: KernelReasons.tokenProviderNotAllowed, detail: provider, token: token)
        }
        guard acceptsDevelopment || !descriptor.isForDevelopment else {
            throw Refusal(reason: KernelReasons.tokenForDevelopment, detail: provider, token: token)
        }
        return good
    }
}
