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
    /// Replay protection has the same three levels: from UNENFORCED on, a token is consumed, separately from
    /// `verifyAppCheckToken`. What cannot be decided (a store that does not answer, where the decision depends on it) is
    /// UNAVAILABLE, and so refused; there is no such failure for what is only counted.
    public func protect(_ request: ProtectedRequest) async -> Protection {
        let now = host.clock.now
        let start = host.clock.uptime
        let decision = DecisionID(now: now, randomness: host.randomness)
        let snapshot = snapshot
        guard let project = snapshot.policies.projects["projects/\(request.project)"] else {
            return Protection(
                decision: decision, result: .failure(CallFailure(.notFound, "Requested entity was not found.")))
        }
        let guardian = ServiceGuard(
            request: request, project: project, snapshot: snapshot, host: host, now: now,
            timeLimit: options.timeLimit)
        var ending: Ending
        var admission = Protection.Admission(use: nil, token: nil)
        do {
            let judgement = try await Deadline.run(options.timeLimit, clock: host.clock) { try await guardian.judge() }
            guard let use = judgement.use else { return Protection(decision: decision, result: .success(admission)) }
            admission = Protection.Admission(use: use, token: judgement.good?.token)
            ending = judgement.ending
        } catch let error as InvalidRequest {
            ending = .rejected(.invalidArgument, error.message)
        } catch {
            ending = .unavailable("\(error)")
        }
        sink.record(
            DecisionRecord(
                decision: decision, time: now, duration: host.clock.uptime - start, method: "protect",
                resource: "projects/\(project.identity.number)/services/\(SafeText.of(request.service))",
                provider: ending.provider, outcome: ending.outcome, detail: ending.safeDetail, facts: ending.facts,
                peer: request.peer, tokenUse: ending.tokenUse,
                basis: ending.basis(isCallerKnown: false, isResourceKnown: ending.tokenUse != nil)))
        return Protection(decision: decision, result: ending.result.map { _ in admission })
    }
}

extension ServiceGuard.Judgement {
    /// What is put on record, and what a client that is refused is told: the words of Google's services.
    fileprivate var ending: Ending {
        var ending: Ending
        if let refusal, !isAdmitted {
            let isMissing = refusal.reason == KernelReasons.tokenMissing
            let failure = CallFailure(
                .unauthenticated, "Firebase App Check token is \(isMissing ? "missing" : "invalid").",
                reason: refusal.reason, detail: refusal.detail)
            ending = Ending(result: .failure(failure), outcome: .refused(refusal.reason), detail: refusal.detail)
        } else {
            ending = .answered([:])
            ending.detail = refusal.map { "let through: \($0.reason)" }
        }
        ending.facts = good?.facts ?? []
        ending.provider = good?.provider ?? refusal?.token?.provider
        ending.tokenUse = use
        return ending
    }
}
