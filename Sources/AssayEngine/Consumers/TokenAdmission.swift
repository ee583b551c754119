internal import AssayKit

/// Judges the token of one request to a consumer by what is demanded of it.
struct TokenAdmission: Sendable {
    let scope: DecisionScope
    let project: ProjectEntry
    let demand: TokenDemand

    /// - Throws: why the token is not good.
    func judge(_ token: PresentedToken?) throws(TokenInspection.Refusal) -> TokenInspection.Good {
        switch token {
        case nil: throw TokenInspection.Refusal(reason: KernelReasons.tokenMissing)
        case .several?: throw TokenInspection.Refusal(reason: KernelReasons.tokenRepeated)
        case .inURL?: throw TokenInspection.Refusal(reason: KernelReasons.tokenInURL)
        case .one(let text)?: return try judge(text)
        }
    }

    func judge(_ text: String) throws(TokenInspection.Refusal) -> TokenInspection.Good {
        let good = try TokenInspection(
            scope: scope, project: project, acceptsDevelopment: demand.acceptsDevelopment,
            // A policy that names apps has said which OAuth clients are meant.
            acceptsOAuthClients: demand.acceptsOAuthClients || demand.apps != nil
        ).inspect(text)
        let refused = { (reason: Reason) in TokenInspection.Refusal(reason: reason, token: good.token) }
        if let providers = demand.providers, !providers.contains(good.provider) {
            throw refused(KernelReasons.tokenProviderNotAllowed)
        }
        if let apps = demand.apps, !apps.contains(good.token.subject) {
            throw refused(KernelReasons.tokenAppNotAllowed)
        }
        if demand.requiresLimitedUse, !good.token.isLimitedUse { throw refused(KernelReasons.tokenNotLimitedUse) }
        if let age = demand.maximumAge, scope.now - good.token.issued > age { throw refused(KernelReasons.tokenTooOld) }
        return good
    }

    /// How the use of a good token counts; nil where it does not.
    func consumption(of good: TokenInspection.Good) -> TokenConsumption? {
        TokenConsumption(
            of: good, enforcement: demand.enforcement, replayProtection: demand.replayProtection, scope)
    }
}

extension VerifiedToken {
    /// Whether it is good for one use: no session token lives so short a time.
    var isLimitedUse: Bool { expires - issued <= TokenLifetime.limitedUse }
}
