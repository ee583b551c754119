internal import AssayKit

/// Judges the token of one request to a consumer by what is demanded of it.
struct TokenAdmission: Sendable {
    let snapshot: Snapshot
    let project: ProjectEntry
    let demand: TokenDemand
    let now: Instant
    let store: any StateStore

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
            snapshot: snapshot, project: project, acceptsDevelopment: demand.acceptsDevelopment, now: now
        ).inspect(text)
        let refused = { (reason: Reason) in TokenInspection.Refusal(reason: reason, token: good.token) }
        if let providers = demand.providers, !providers.contains(good.provider) {
            throw refused(KernelReasons.tokenProviderNotAllowed)
        }
        if let apps = demand.apps, !apps.contains(good.token.subject) {
            throw refused(KernelReasons.tokenAppNotAllowed)
        }
        if demand.requiresLimitedUse, !good.token.isLimitedUse { throw refused(KernelReasons.tokenNotLimitedUse) }
        if let age = demand.maximumAge, now - good.token.issued > age { throw refused(KernelReasons.tokenTooOld) }
        return good
    }

    /// Whether a good token is used up by the request.
    func consumes(_ token: VerifiedToken) -> Bool {
        token.isLimitedUse || demand.replayProtection > .off
    }

    /// Whether a token that is used up was used before, as far as that is known already.
    func wasUsed(_ good: TokenInspection.Good) async throws -> Bool {
        try await TokenConsumption.isConsumed(good, in: .services, store: store)
    }

    /// Uses a token up; false when that was done before.
    func consume(_ good: TokenInspection.Good) async throws -> Bool {
        try await TokenConsumption.consume(good, in: .services, store: store)
    }
}

extension VerifiedToken {
    /// Whether it is good for one use: no session token lives so short a time.
    var isLimitedUse: Bool { expires - issued <= TokenLife.limitedUse }
}
