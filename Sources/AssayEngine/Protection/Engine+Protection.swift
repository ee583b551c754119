internal import AssayKit

extension Engine {
    /// Decides by the level of a service whether a request to it is let through, and counts it as App Check's console does.
    ///
    /// It is what a proxy or a backend in this process asks before it serves:
    ///
    ///     let protection = await engine.protect(
    ///         ProtectedRequest(project: "example-project", service: "orders.example.com", token: header))
    ///     guard case .success(let admission) = protection.result else { ... }
    ///
    /// - OFF: it is let through; nobody looks at its token, and there is no record.
    /// - UNENFORCED: the token is verified and the request counted; it is let through.
    /// - ENFORCED: without a good token it is refused, as UNAUTHENTICATED.
    ///
    /// A limited-use token is consumed, and good once wherever it is shown. Replay protection has the same three levels for
    /// session tokens; with `consumption: separate` in the service's policy, for all tokens, by the service's own uses. What
    /// cannot be decided (a store that does not answer, where the decision depends on it; a reason for which the engine
    /// must not decide, whatever the level) is UNAVAILABLE, and so refused; there is no such failure of the store for what
    /// is only counted.
    public func protect(_ request: ProtectedRequest) async -> Protection {
        let subject = DecisionSubject(
            method: "protect", requested: "projects/\(request.project)/services/\(request.service)", peer: request.peer)
        var admission = Protection.Admission(use: nil, token: nil)
        let (decision, ending) = await gate.decide(by: snapshot, subject) { scope, subject in
            guard let project = scope.snapshot.policies.projects["projects/\(request.project)"] else {
                return .rejected(.notFound, "Requested entity was not found.")
            }
            subject.resource = "\(project.name)/services/\(SafeText.of(request.service))"
            let guardian = ServiceGuard(request: request, project: project, scope: scope)
            do {
                let judgement = try await Deadline.run(scope.timeLimit, clock: host.clock) {
                    try await guardian.judge()
                }
                admission = Protection.Admission(
                    use: judgement.use?.use(isAnswered: true), token: judgement.good?.token)
                return judgement.ending
            } catch let error as InvalidRequest {
                return .rejected(.invalidArgument, error.message)
            } catch {
                return .unavailable("\(error)")
            }
        }
        return Protection(decision: decision, result: ending.result.map { _ in admission })
    }
}

extension ServiceGuard.Judgement {
    /// What is put on record, and what a client that is refused is told: the words of Google's services.
    fileprivate var ending: CallOutcome {
        var ending: CallOutcome
        if let refusal, isStrict {
            let isMissing = refusal.reason == KernelReasons.tokenMissing
            let failure = CallFailure(
                .unauthenticated, "Firebase App Check token is \(isMissing ? "missing" : "invalid").",
                reason: refusal.reason, detail: refusal.detail)
            ending = CallOutcome(result: .failure(failure), outcome: .refused(refusal.reason), detail: refusal.detail)
        } else {
            ending = .answered([:])
            ending.waived = refusal.map { Waived($0) }
        }
        ending.facts = good?.facts ?? refusal?.facts ?? []
        ending.provider = good?.provider ?? refusal?.token?.provider
        ending.tokenUse = use
        ending.isOnRecord = use != nil
        return ending
    }
}
