internal import AssayCore
internal import AssayKit

/// The kernel's operations with the tokens of one project, for a consumer.
struct ProjectTokens: ConsumerTokens {
    let scope: RequestScope
    let consumer: ConsumerBinding

    private var project: ProjectBinding { consumer.project }

    func sign(type: String, claims: JSON) throws -> String {
        guard case .object = claims else {
            throw PluginFault("the consumer \(consumer.descriptor.name) signs claims that are no object")
        }
        let descriptor = consumer.descriptor
        guard descriptor.tokenTypes.contains(where: { $0.isExactly(type) }) else {
            throw PluginFault("the consumer \(descriptor.name) signs a token of a type that it does not declare")
        }
        let latest = scope.now + descriptor.limits.tokenLifetime
        guard let end = claims["exp"]?.integer, end <= latest.seconds else {
            throw PluginFault(
                "the consumer \(descriptor.name) signs a token that is valid for longer than its limits say")
        }
        return try scope.issuer.sign(type: type, claims)
    }

    func own(_ token: String) -> OwnToken? {
        scope.snapshot.keys.verifier(at: scope.now).signed(token).map {
            OwnToken(type: $0.type, claims: $0.claims)
        }
    }

    func inspect(_ token: String, _ demand: TokenDemand) async throws -> TokenFinding {
        try await judge(token, demand) { accepted, admission in
            guard let consumption = admission.consumption(of: accepted) else { return false }
            return try await consumption.use() != .first && consumption.isStrict
        }
    }

    func look(at token: String, _ demand: TokenDemand) async throws -> TokenFinding {
        try await judge(token, demand) { accepted, _ in try await accepted.isConsumedAnywhere(scope) }
    }

    private func judge(
        _ token: String, _ demand: TokenDemand,
        isReused: (TokenInspection.Accepted, TokenInspection) async throws -> Bool
    ) async throws -> TokenFinding {
        let admission = TokenInspection(scope: scope, project: project, demand: demand)
        let accepted: TokenInspection.Accepted
        do throws(TokenInspection.Refusal) {
            accepted = try admission.judge(token)
        } catch {
            if error.reason == KernelReasons.tokenKeyUnknown, let undecided = scope.live.undecided {
                // Not a fault of the consumer.
                throw CallFailure(
                    .unavailable, CallOutcome.unavailableMessage, detail: undecided.message, retryAfter: .seconds(5))
            }
            return .refused(error.reason)
        }
        guard try await !isReused(accepted, admission) else { return .refused(KernelReasons.tokenReused) }
        return .good(accepted.token, accepted.app.identity)
    }
}
