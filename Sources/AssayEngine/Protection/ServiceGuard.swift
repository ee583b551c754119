internal import AssayKit
internal import AssayPolicy

/// One request to a protected service on its way through one snapshot.
struct ServiceGuard: Sendable {
    let request: ProtectedRequest
    let project: ProjectEntry
    let scope: DecisionScope

    /// What was decided. The level is OFF where there is neither a use nor a refusal.
    struct Judgement: Sendable {
        var use: TokenCount?
        var good: TokenInspection.Good?
        var refusal: TokenInspection.Refusal?
        /// Whether the refusal holds: it does only where the level is ENFORCED.
        var isStrict = false
    }

    /// - Throws: ``InvalidRequest`` for a service that there is not; what the store throws where the decision depends on
    ///   it. What is only counted never stands in the way of a request.
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
        let policy = project.services[request.service]
        let good: TokenInspection.Good
        do throws(TokenInspection.Refusal) {
            good = try TokenInspection(
                scope: scope, project: project, acceptsDevelopment: policy?.acceptsDevelopment ?? false,
                acceptsOAuthClients: policy?.acceptsOAuthClients ?? false
            ).inspect(text)
        } catch {
            let app = error.app(of: project) ?? claimedApp
            return Judgement(use: use(.invalid, levels, app: app), refusal: error, isStrict: isEnforced)
        }
        let consumption = TokenConsumption(
            of: good, enforcement: levels.enforcement, replayProtection: levels.replayProtection,
            separate: policy?.consumption == .separate ? .service(request.service) : nil, scope)
        guard let consumption, try await !consumption.use() else {
            return Judgement(use: use(.verified, levels, app: good.token.subject), good: good)
        }
        return Judgement(
            use: use(.reused, levels, app: good.token.subject), good: good,
            refusal: TokenInspection.Refusal(reason: KernelReasons.tokenReused, token: good.token),
            isStrict: consumption.isStrict)
    }

    private func levels() async throws -> ServiceLevels {
        guard project.supports(request.service) else { throw ProjectEntry.unsupported(request.service) }
        // Only where administrators may change something is there anything to read.
        guard project.services[request.service]?.isEditable == true else {
            return try project.view(of: request.service, ProtectionState()).levels
        }
        let state = try await ProtectionState.read(of: project.identity, in: scope.host.store)
        var levels = try project.view(of: request.service, state).levels
        if request.service.isExactly(ResourcePolicy.service), let client = request.oauthClient {
            let target = ResourcePolicy.target(ofClient: client, in: project.identity)
            if let policy = project.resourcePolicies(state).values.first(where: { $0.target.isExactly(target) }) {
                levels.enforcement = policy.enforcement
                levels.replayProtection = min(levels.replayProtection, policy.enforcement)
            }
        }
        return levels
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
