internal import AssayCore
internal import AssayHosting
internal import AssayKit

/// How a call ended: what the caller gets and what is put on record.
struct CallOutcome: Sendable {
    var result: Result<JSON, CallFailure>
    var outcome: DecisionRecord.Outcome
    var detail: String?
    var facts: [Fact] = []
    /// The provider of the token that the call is about, where the method itself is no provider's.
    var provider: String?
    /// The canonical name of the resource that the call is about; nil while none is known.
    var resource: String?
    /// The app or OAuth client that the call is about.
    var app: String?
    /// How a request with a token, or without, is counted.
    var tokenUse: TokenCount?
    /// What is wrong with the request, where its level is UNENFORCED, so that it is let through.
    var waived: Waived?
    /// Whether a decision was made that is put on record: not where the level is OFF.
    var isOnRecord = true

    /// A reply.
    static func reply(_ message: JSON, _ outcome: DecisionRecord.Outcome, facts: [Fact] = []) -> CallOutcome {
        CallOutcome(result: .success(message), outcome: outcome, facts: facts)
    }

    /// Evidence was refused.
    ///
    /// The client learns no more than that, as App Check's clients expect.
    static func refused(_ reason: Reason, detail: String? = nil, facts: [Fact] = []) -> CallOutcome {
        let failure = CallFailure(.permissionDenied, "App attestation failed.", reason: reason, detail: detail)
        return CallOutcome(result: .failure(failure), outcome: .refused(reason), detail: detail, facts: facts)
    }

    /// What a handler threw: a malformed request, a failure in the handler's words, or an obstacle to any decision.
    static func ended(by error: any Error) -> CallOutcome {
        switch error {
        case let error as InvalidRequest: .rejected(.invalidArgument, error.message)
        case let error as CallFailure: .failed(error)
        default: .unavailable("\(error)")
        }
    }

    /// The request is malformed, or about an unknown resource: there is nothing to decide.
    ///
    /// - Parameter detail: what the record says beyond what the client is told.
    static func rejected(_ status: StatusCode, _ message: String, detail: String? = nil) -> CallOutcome {
        CallOutcome(
            result: .failure(CallFailure(status, message, detail: detail)), outcome: .rejected(status),
            detail: detail ?? message)
    }

    /// The rate limit of the app is exceeded; the evidence or token of the call was not judged.
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

    /// The credentials are missing, or are those of no caller of a policy.
    ///
    /// - Parameter detail: what is wrong with them, for the record; the caller does not learn it.
    static func unauthenticated(_ detail: String) -> CallOutcome {
        rejected(
            .unauthenticated, "Request is missing a valid authentication credential: expected a bearer token.",
            detail: detail)
    }

    /// The caller lacks a permission.
    ///
    /// It does not learn which resources exist; the record says what it lacks.
    static func forbidden(_ caller: Caller, lacks permission: Permission) -> CallOutcome {
        var outcome = forbidden("the caller \(caller.name) lacks the permission \(permission.name)")
        outcome.facts = [Fact(.permission, .text(permission.name))]
        return outcome
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

    /// Whether something was given or refused: not where the request was malformed, or no decision could be made.
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

// MARK: - What is put on record

extension CallOutcome {
    /// What the record of the call rests on.
    func basis(isCallerKnown: Bool, isResourceKnown: Bool) -> DecisionRecord.Basis {
        if case .issued = outcome { return .verified }
        var isVerified = isCallerKnown
        switch tokenUse?.category {
        case .verified?, .reused?: isVerified = true
        case .outdatedClient?, .unknownOrigin?, .invalid?, nil: break
        }
        if isVerified, isDecided { return .verified }
        return isVerified || isResourceKnown ? .known : .unknown
    }

    /// The detail as records keep it while they wait to be written: always short.
    func safeDetail(isAnswered: Bool) -> String? {
        let all = [isAnswered ? waived?.words : nil, detail].compactMap(\.self)
        return all.isEmpty ? nil : SafeText.of(all.joined(separator: "; "), limit: 1000)
    }
}
