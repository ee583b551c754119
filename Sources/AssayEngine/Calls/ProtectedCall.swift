internal import AssayCore
internal import AssayKit
internal import AssayPolicy

/// One request to a protected service after the gate: the level of the service decides about its token.
struct ProtectedCall: Sendable {
    let scope: RequestScope
    let request: ProtectedRequest
    let project: ProjectBinding

    /// The result of the judgement.
    ///
    /// The level is OFF if there is neither a use nor a refusal.
    struct Judgement: Sendable {
        var use: TokenCount?
        var accepted: TokenInspection.Accepted?
        var refusal: TokenInspection.Refusal?
        /// Whether the refusal takes effect, as it does only if the level is ENFORCED.
        var isStrict = false
    }

    /// - Throws: `InvalidRequest` for an unknown service; the store's error if the decision depends on it. Uses that
    ///   are only counted never block a request.
    func judge() async throws -> Judgement {
        let levels = try await levels()
        guard levels.enforcement > .off else { return Judgement() }
        let isEnforced = levels.enforcement == .enforced
        guard let text = request.token, !text.isEmpty else {
            let category: TokenUse.Category = request.client.isFirebaseSDK ? .outdatedClient : .unknownOrigin
            return Judgement(
                use: use(category, levels, app: claimedApp),
                refusal: TokenInspection.Refusal(reason: KernelReasons.tokenMissing), isStrict: isEnforced)
        }
        let service = services[request.service]
        let accepted: TokenInspection.Accepted
        do throws(TokenInspection.Refusal) {
            accepted = try TokenInspection(
                scope: scope, project: project, demand: service?.demand ?? TokenDemand()
            ).judge(text)
        } catch {
            let app = error.app(of: project) ?? claimedApp
            return Judgement(use: use(.invalid, levels, app: app), refusal: error, isStrict: isEnforced)
        }
        let consumption = TokenConsumption(
            of: accepted, enforcement: levels.enforcement, replayProtection: levels.replayProtection,
            separate: service?.consumption == .separate ? .service(request.service) : nil, scope)
        guard let consumption, case let finding = try await consumption.use(), finding != .first else {
            return Judgement(use: use(.verified, levels, app: accepted.token.subject), accepted: accepted)
        }
        return Judgement(
            use: use(.reused, levels, app: accepted.token.subject), accepted: accepted,
            refusal: TokenInspection.Refusal(
                reason: KernelReasons.tokenReused, detail: finding.detail, token: accepted.token),
            isStrict: consumption.isStrict)
    }

    private var services: ProjectServices { scope.snapshot.policies.services(of: project) }

    private nonisolated(nonsending) func levels() async throws -> ServiceLevels {
        guard let service = try services.deciding(request.service) else { return ServiceLevels() }
        guard service.isEditable else { return service.levels }
        let state = try await scope.protection(of: project.identity)
        let level = request.oauthClient.flatMap { services.level(ofClient: $0, in: service.id, state) }
        return services.levels(of: service, state).lowered(to: level)
    }

    /// The app that the request claims to come from, if the project has it.
    private var claimedApp: String? { request.client.appID.flatMap { project.apps[$0] }?.identity.subject }

    private func use(
        _ category: TokenUse.Category, _ levels: ServiceLevels, app: String?
    ) -> TokenCount {
        TokenCount(
            project: project.identity.number, service: request.service, app: app, category: category,
            enforcement: levels.enforcement)
    }
}

extension ProtectedCall.Judgement {
    /// The content of the record, and the response to a refused client, in the words of Google's services.
    var outcome: CallOutcome {
        var outcome: CallOutcome
        if let refusal, isStrict {
            let isMissing = refusal.reason == KernelReasons.tokenMissing
            let failure = CallFailure(
                .unauthenticated, "Firebase App Check token is \(isMissing ? "missing" : "invalid").",
                reason: refusal.reason, detail: refusal.detail)
            outcome = CallOutcome(result: .failure(failure), outcome: .refused(refusal.reason), detail: refusal.detail)
        } else {
            outcome = .answered([:])
            outcome.waived = refusal.map { Waived($0) }
        }
        outcome.facts = accepted?.facts ?? refusal?.facts ?? []
        outcome.provider = accepted?.provider ?? refusal?.token?.provider
        outcome.isAboutGenuineToken = accepted != nil || refusal?.token != nil
        outcome.tokenUse = use
        outcome.isOnRecord = use != nil
        return outcome
    }
}
