internal import AssayKit

/// How a call ended: what the caller gets and what is put on record.
struct CallOutcome: Sendable {
    var result: Result<JSON, CallFailure>
    var outcome: DecisionRecord.Outcome
    var detail: String?
    var facts: [Fact] = []
    /// The provider of the token that the call is about, where the method itself is no provider's.
    var provider: String?
    /// The app or OAuth client that the call is about, where the call's resource is none.
    var app: String?
    /// How a request with a token, or without, is counted.
    var tokenUse: TokenCount?
    /// What was found wrong, and is no reason to refuse the request, because its level is UNENFORCED.
    var waived: Waived?
    /// Whether anything was decided that is put on record: not where a policy says that nobody looks.
    var isOnRecord = true

    /// A reply.
    static func reply(_ message: JSON, _ outcome: DecisionRecord.Outcome, facts: [Fact] = []) -> CallOutcome {
        CallOutcome(result: .success(message), outcome: outcome, facts: facts)
    }

    /// Evidence was refused. The client learns no more than that, as App Check's clients expect.
    static func refused(_ reason: Reason, detail: String? = nil, facts: [Fact] = []) -> CallOutcome {
        let failure = CallFailure(.permissionDenied, "App attestation failed.", reason: reason, detail: detail)
        return CallOutcome(result: .failure(failure), outcome: .refused(reason), detail: detail, facts: facts)
    }

    /// The request is not one that could be decided upon.
    ///
    /// - Parameter detail: what the record says beyond what the client is told.
    static func rejected(_ status: StatusCode, _ message: String, detail: String? = nil) -> CallOutcome {
        CallOutcome(
            result: .failure(CallFailure(status, message, detail: detail)), outcome: .rejected(status),
            detail: detail ?? message)
    }

    /// More calls came for the app than its policy lets through; nobody looked at what this one brought.
    static func limited(wait: Duration) -> CallOutcome {
        let failure = CallFailure(
            .resourceExhausted, "Quota exceeded for calls of this app.", reason: KernelReasons.rateLimited,
            retryAfter: wait)
        return CallOutcome(result: .failure(failure), outcome: .refused(KernelReasons.rateLimited))
    }

    /// A call was answered that is neither a challenge nor an exchange.
    static func answered(_ message: JSON, facts: [Fact] = []) -> CallOutcome {
        CallOutcome(result: .success(message), outcome: .answered, facts: facts)
    }

    /// A method says itself what went wrong.
    static func failed(_ failure: CallFailure) -> CallOutcome {
        let outcome: DecisionRecord.Outcome =
            switch failure.status {
            case .unavailable, .internalError: .failed(failure.status)
            default: failure.reason.map { .refused($0) } ?? .rejected(failure.status)
            }
        return CallOutcome(result: .failure(failure), outcome: outcome, detail: failure.detail ?? failure.message)
    }

    /// The caller showed nothing that the policy knows it by.
    ///
    /// - Parameter detail: what is wrong with what it showed, for the record; the caller does not learn it.
    static func unauthenticated(_ detail: String) -> CallOutcome {
        rejected(
            .unauthenticated, "Request is missing a valid authentication credential: expected a bearer token.",
            detail: detail)
    }

    /// The caller may not do that; it learns nothing of what there is, and the record says what it lacks.
    static func forbidden(_ caller: Caller, lacks permission: Permission) -> CallOutcome {
        var ending = forbidden("the caller \(caller.name) lacks the permission \(permission.name)")
        ending.facts = [Fact(.permission, .text(permission.name))]
        return ending
    }

    /// The same for a caller that may not act in a project; nil stands for one that no policy knows.
    static func forbidden(_ caller: Caller, in project: ProjectIdentity?) -> CallOutcome {
        guard let project else {
            return forbidden("the caller \(caller.name) may act in some projects only, and none that is known is named")
        }
        return forbidden("the caller \(caller.name) may not act in the project \(project.number) (\(project.id))")
    }

    private static func forbidden(_ detail: String) -> CallOutcome {
        rejected(.permissionDenied, "The caller does not have permission.", detail: detail)
    }

    /// No decision could be made; another try may succeed.
    static func unavailable(_ detail: String) -> CallOutcome {
        let failure = CallFailure(
            .unavailable, "The service is currently unavailable.", detail: detail, retryAfter: .seconds(5))
        return CallOutcome(result: .failure(failure), outcome: .failed(.unavailable), detail: detail)
    }

    /// A fault of this service or of a plugin.
    static func fault(_ detail: String) -> CallOutcome {
        let failure = CallFailure(.internalError, "Internal error encountered.", detail: detail)
        return CallOutcome(result: .failure(failure), outcome: .failed(.internalError), detail: detail)
    }

    /// Whether the caller got a message, and no failure.
    var isAnswered: Bool {
        if case .success = result { true } else { false }
    }

    /// Whether something was given or refused: not where a request was not of the form, or nobody could decide.
    var isDecided: Bool {
        switch outcome {
        case .answered, .challenged, .issued, .refused: true
        case .rejected, .failed: false
        }
    }

    /// Why evidence or a token was refused.
    var reason: Reason? {
        if case .refused(let reason) = outcome { reason } else { nil }
    }
}
