package import AssayCore
package import AssayKit
internal import AssayPolicy
internal import AssayVerifier

/// A token that this service has signed for a project and whose times are good, as far as it is known.
///
/// A server knows all of it. A record does not tell everything: what it does not tell is nil.
package struct KnownToken: Sendable {
    /// The app ID or the OAuth client ID.
    package let subject: String
    /// The provider that verified the evidence; nil for a token that names none.
    package let provider: String?
    /// Its `iss`; nil where it was compared before.
    package let issuer: String?
    /// Whether it can be used only once.
    package let isLimitedUse: Bool?
    /// Its `iat`.
    package let issued: Instant?

    package init(
        subject: String, provider: String?, issuer: String? = nil, isLimitedUse: Bool? = nil, issued: Instant? = nil
    ) {
        self.subject = subject
        self.provider = provider
        self.issuer = issuer
        self.isLimitedUse = isLimitedUse
        self.issued = issued
    }

    init(_ token: VerifiedToken) {
        self.init(
            subject: token.subject, provider: token.provider, isLimitedUse: token.isLimitedUse, issued: token.issued)
    }
}

/// What policies say of a token.
package enum TokenJudgement: Sendable {
    /// It is that of an app, and meets the demand.
    case accepted(AppBinding, provider: String)
    case refused(Reason, detail: String? = nil)
    /// It depends on something that is not known: in words.
    case unknown(String)
}

/// What deny lists say of a token.
package enum TokenDenial: Sendable {
    /// No entry refuses it.
    case none
    /// The entry that refuses it, in words; or why it must be refused.
    case denied(String)
    /// It depends on something that is not known: in words.
    case unknown(String)
}

extension BoundPolicies {
    /// Judges a token by what policies say of its app, its provider and the demand: the only place where that is decided.
    ///
    /// - Parameters:
    ///   - project: the project that the token is for.
    ///   - denial: what the deny lists say of a token of an app.
    package func judge(
        _ token: KnownToken, for project: ProjectBinding, demand: TokenDemand, at now: Instant,
        denial: (AppBinding) -> TokenDenial
    ) -> TokenJudgement {
        if let issuer = token.issuer, !issuer.isExactly(project.issuer) { return .refused(TokenReasons.issuer) }
        guard let app = project.apps[token.subject] else { return .refused(KernelReasons.tokenAppUnknown) }
        guard let provider = token.provider else {
            return .refused(KernelReasons.tokenProviderUnsupported, detail: "the token names no provider")
        }
        // A policy that names apps also decides about OAuth clients.
        guard demand.acceptsOAuthClients || demand.apps != nil || app.identity.kind != .oauthClient else {
            return .refused(KernelReasons.tokenOfOAuthClient)
        }
        switch denial(app) {
        case .none: break
        case .denied(let words): return .refused(KernelReasons.tokenDenied, detail: words)
        case .unknown(let missing): return .unknown(missing)
        }
        return refusal(of: provider, for: app, demand) ?? token.refusal(by: provider, under: demand, at: now)
            ?? .accepted(app, provider: provider)
    }

    /// Why no token of a provider is good for an app; nil where it may be.
    private func refusal(of provider: String, for app: AppBinding, _ demand: TokenDemand) -> TokenJudgement? {
        // Minted tokens need no provider in the policy.
        if provider.isExactly(MintedTokens.provider) { return nil }
        guard let descriptor = descriptors[provider] else {
            return .refused(KernelReasons.tokenProviderUnsupported, detail: provider)
        }
        guard app.providers[provider] != nil else {
            return .refused(KernelReasons.tokenProviderNotAllowed, detail: provider)
        }
        guard demand.acceptsDevelopment || !descriptor.isForDevelopment else {
            return .refused(KernelReasons.tokenForDevelopment, detail: provider)
        }
        return nil
    }
}

extension KnownToken {
    /// What of a demand the token does not meet, or may not; nil where it meets all.
    fileprivate func refusal(by provider: String, under demand: TokenDemand, at now: Instant) -> TokenJudgement? {
        if let providers = demand.providers, !providers.contains(provider) {
            return .refused(KernelReasons.tokenProviderNotAllowed)
        }
        if let apps = demand.apps, !apps.contains(subject) { return .refused(KernelReasons.tokenAppNotAllowed) }
        if demand.requiresLimitedUse {
            guard let isLimitedUse = isLimitedUse else {
                return .unknown("whether the token was for limited use is not recorded")
            }
            guard isLimitedUse else { return .refused(KernelReasons.tokenNotLimitedUse) }
        }
        if let age = demand.maximumAge {
            guard let issued = issued else { return .unknown("when the token was issued is not recorded") }
            guard now - issued <= age else { return .refused(KernelReasons.tokenTooOld) }
        }
        return nil
    }
}

extension ProjectBinding {
    /// What `verifyAppCheckToken` demands of tokens.
    ///
    /// As with Google's service, the caller reads from the token which app it is for.
    package var verificationDemand: TokenDemand {
        TokenDemand(replayProtection: .enforced, acceptsOAuthClients: true, acceptsDevelopment: acceptsDevelopment)
    }
}
