package import AssayCore
package import AssayKit

/// The end of a call: the response to the caller and the content of the record.
package struct CallOutcome: Sendable {
    package var result: Result<JSON, CallFailure>
    package var outcome: DecisionRecord.Outcome
    package var detail: String?
    package var facts: [Fact] = []
    /// The provider of the token that the call is about, if the method is not a provider's.
    package var provider: String?
    /// The canonical name of the resource that the call is about; nil while it is unknown.
    package var resource: String?
    /// The app or OAuth client that the call is about.
    package var app: String?
    /// Whether it is about a token of this service that is alive, which was refused for what is demanded of it.
    var isAboutGenuineToken = false
    /// How a request that should carry a token is counted.
    var tokenUse: TokenCount?
    /// What is wrong with a request that is allowed because its level is UNENFORCED.
    var waived: Waived?
    /// The rules that evidence matched.
    package var rules = RuleFindings()
    /// Which deny list refused the evidence.
    package var denial: DenialSource?
    /// Whether a decision was made that is recorded: not if the level is OFF.
    var isOnRecord = true

    /// A reply.
    package static func reply(_ message: JSON, _ outcome: DecisionRecord.Outcome, facts: [Fact] = []) -> CallOutcome {
        CallOutcome(result: .success(message), outcome: outcome, facts: facts)
    }

    /// The outcome for refused evidence.
    ///
    /// The client learns nothing else, as App Check's clients expect.
    package static func refused(_ reason: Reason, detail: String? = nil, facts: [Fact] = []) -> CallOutcome {
        let failure = CallFailure(reason.status.code, "App attestation failed.", reason: reason, detail: detail)
        return CallOutcome(result: .failure(failure), outcome: .refused(reason), detail: detail, facts: facts)
    }

    /// The outcome for an error that a handler threw: a malformed request, the handler's own failure, or an error that
    /// prevents any decision.
    static func ended(by error: any Error) -> CallOutcome {
        switch error {
        case let error as InvalidRequest: .rejected(.invalidArgument, error.message)
        case let error as CallFailure: .failed(error)
        case let error as PluginFault: .fault(error.description)
        case let error as PluginLimitExceeded: .unavailable(error.description, retryAfter: error.retryAfter)
        case let error as PluginResting: .unavailable(error.description, retryAfter: error.retryAfter)
        default: .unavailable("\(error)")
        }
    }

    /// The outcome for a malformed request, or one about an unknown resource: nothing is decided.
    ///
    /// - Parameter detail: what the record says and the client is not told.
    package static func rejected(_ status: StatusCode, _ message: String, detail: String? = nil) -> CallOutcome {
        CallOutcome(
            result: .failure(CallFailure(status, message, detail: detail)), outcome: .rejected(status),
            detail: detail ?? message)
    }

    /// The outcome above the rate limit of the app; the evidence or token was not judged.
    package static func limited(wait: Duration) -> CallOutcome {
        let failure = CallFailure(
            .resourceExhausted, "Quota exceeded for calls of this app.", reason: KernelReasons.rateLimited,
            retryAfter: wait)
        return CallOutcome(result: .failure(failure), outcome: .refused(KernelReasons.rateLimited))
    }

    /// The outcome of an answered call that is neither a challenge nor an exchange.
    package static func answered(_ message: JSON, facts: [Fact] = []) -> CallOutcome {
        CallOutcome(result: .success(message), outcome: .answered, facts: facts)
    }

    /// The outcome of a method that states its own failure.
    package static func failed(_ failure: CallFailure) -> CallOutcome {
        let outcome: DecisionRecord.Outcome =
            switch failure.status {
            case .unavailable, .internalError: .failed(failure.status)
            default: failure.reason.map { .refused($0) } ?? .rejected(failure.status)
            }
        return CallOutcome(result: .failure(failure), outcome: outcome, detail: failure.detail ?? failure.message)
    }

    /// The outcome for credentials that are missing or unknown.
    ///
    /// - Parameter detail: what is wrong with them, for the record only.
    package static func unauthenticated(_ detail: String) -> CallOutcome {
        rejected(
            .unauthenticated, "Request is missing a valid authentication credential: expected a bearer token.",
            detail: detail)
    }

    /// The outcome for a caller that lacks a permission.
    ///
    /// The response does not reveal which resources exist; the record names the missing permission.
    package static func forbidden(_ caller: Caller, lacks permission: Permission) -> CallOutcome {
        var outcome = forbidden("the caller \(caller.name) lacks the permission \(permission.name)")
        outcome.facts = [Fact(.permission, .text(permission.name))]
        return outcome
    }

    /// The same for a caller that may not act in a project; nil stands for an unknown project.
    package static func forbidden(_ caller: Caller, in project: ProjectIdentity?) -> CallOutcome {
        guard let project else {
            return forbidden(
                "the caller \(caller.name) may act in some projects only, and the request names no known one")
        }
        return forbidden("the caller \(caller.name) may not act in the project \(project.number) (\(project.id))")
    }

    private static func forbidden(_ detail: String) -> CallOutcome {
        rejected(.permissionDenied, "The caller does not have permission.", detail: detail)
    }

    /// The outcome when no decision could be made; another try may succeed.
    package static func unavailable(_ detail: String, retryAfter: Duration = .seconds(5)) -> CallOutcome {
        let failure = CallFailure(.unavailable, unavailableMessage, detail: detail, retryAfter: retryAfter)
        return CallOutcome(result: .failure(failure), outcome: .failed(.unavailable), detail: detail)
    }

    package static let unavailableMessage = "The service is currently unavailable."

    /// The outcome for a fault of this service or of a plugin.
    package static func fault(_ detail: String) -> CallOutcome {
        let failure = CallFailure(.internalError, "Internal error encountered.", detail: detail)
        return CallOutcome(result: .failure(failure), outcome: .failed(.internalError), detail: detail)
    }

    /// Whether the caller gets a message, not a failure.
    var isAnswered: Bool {
        if case .success = result { true } else { false }
    }

    /// Whether this service or a plugin is at fault.
    var isFault: Bool {
        if case .failed(.internalError) = outcome { true } else { false }
    }

    /// Whether a decision was made: not for malformed requests, nor when no decision was possible.
    var isDecided: Bool {
        switch outcome {
        case .answered, .challenged, .issued, .refused: true
        case .rejected, .failed: false
        }
    }

    /// Why evidence or a token was refused.
    package var reason: Reason? {
        if case .refused(let reason) = outcome { reason } else { nil }
    }
}

// MARK: - The content of the record

extension CallFailure {
    /// What a call is about does not exist; the message is Google's.
    package static let notFound = CallFailure(.notFound, "Requested entity was not found.")

    /// No policy has the consumer, or the request names an unknown one; the response does not reveal which consumers exist.
    ///
    /// - Parameter detail: what was asked for in vain, for the record only.
    package static func absentConsumer(_ detail: String? = nil) -> CallFailure {
        CallFailure(
            .notFound, notFound.message, reason: KernelReasons.consumerUnknown, detail: detail,
            oauthError: "invalid_target")
    }

    /// The same where a token is exchanged, in OAuth's words.
    package static func absentTarget(_ detail: String? = nil) -> CallFailure {
        CallFailure(
            .invalidArgument, "No token is available for this audience or resource.",
            reason: KernelReasons.consumerUnknown, detail: detail, oauthError: "invalid_target")
    }
}

extension CallOutcome {
    /// The basis of the call's record.
    func basis(isCallerKnown: Bool, isResourceKnown: Bool) -> DecisionRecord.Basis {
        if case .issued = outcome { return .verified }
        var isVerified = isCallerKnown || isAboutGenuineToken
        switch tokenUse?.category {
        case .verified?, .reused?: isVerified = true
        case .outdatedClient?, .unknownOrigin?, .invalid?, nil: break
        }
        if isVerified, isDecided { return .verified }
        return isVerified || isResourceKnown ? .known : .unknown
    }

    /// The detail as records keep it while they wait to be written; always short.
    func safeDetail(isAnswered: Bool) -> String? {
        let all = [isAnswered ? waived?.words : nil, detail].compactMap(\.self)
        return all.isEmpty ? nil : SafeText.of(all.joined(separator: "; "), limit: 1000)
    }
}
