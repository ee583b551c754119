internal import AssayCore
internal import AssayKit

extension Engine {
    /// Decides by the level of a service whether a request to it is allowed, and counts it as App Check's console does.
    ///
    /// A proxy, or a backend in this process, asks it before it serves a request:
    ///
    ///     let protection = await engine.protect(
    ///         ProtectedRequest(project: "example-project", service: "orders.example.com", token: header))
    ///     guard case .success(let admission) = protection.result else { ... }
    ///
    /// - OFF: the request is allowed; its token is not read, and there is no record.
    /// - UNENFORCED: the token is verified and the request counted; the request is allowed.
    /// - ENFORCED: a request without a valid token is refused, as UNAUTHENTICATED.
    ///
    /// A limited-use token is consumed, and is valid once in all places together. Replay protection has the same three
    /// levels for session tokens; with `consumption: separate` in the service's policy, it applies to all tokens, by
    /// the service's own uses. If no decision is possible, the response is UNAVAILABLE, and so the request is refused:
    /// when the decision depends on a store that does not answer, and, at every level, while there is a blocking
    /// reason. Uses that are only counted do not depend on the store.
    public func protect(_ request: ProtectedRequest) async -> Protection {
        let call = Call(
            "protect", resource: "projects/\(request.project)/services/\(request.service)", peer: request.peer)
        var admission = Protection.Admission(use: nil, token: nil)
        let (decision, outcome) = await gate.decide(call) { scope in
            guard let project = scope.snapshot.policies.projects["projects/\(request.project)"] else {
                return .rejected(.notFound, "The policies have no project '\(SafeText.asked(request.project))'.")
            }
            let call = ProtectedCall(scope: scope, request: request, project: project)
            var outcome: CallOutcome
            do {
                let judgement = try await scope.withinDeadline { try await call.judge() }
                admission = Protection.Admission(
                    use: judgement.use?.use(isAnswered: true), token: judgement.accepted?.token)
                outcome = judgement.outcome
            } catch {
                outcome = .ended(by: error)
            }
            outcome.resource = "\(project.name)/services/\(SafeText.of(request.service))"
            return outcome
        }
        return Protection(decision: decision, result: outcome.result.map { _ in admission })
    }
}
