internal import AssayKit

/// How a call ended: what the caller gets and what is put on record.
struct Ending: Sendable {
    var result: Result<JSON, CallFailure>
    var outcome: DecisionRecord.Outcome
    var detail: String?
    var facts: [Fact] = []

    /// A reply.
    static func reply(_ message: JSON, _ outcome: DecisionRecord.Outcome, facts: [Fact] = []) -> Ending {
        Ending(result: .success(message), outcome: outcome, facts: facts)
    }

    /// Evidence was refused. The client learns no more than that, as App Check's clients expect.
    static func refused(_ reason: Reason, detail: String? = nil) -> Ending {
        let failure = CallFailure(.permissionDenied, "App attestation failed.", reason: reason, detail: detail)
        return Ending(result: .failure(failure), outcome: .refused(reason), detail: detail)
    }

    /// The request is not one that could be decided upon.
    static func rejected(_ status: StatusCode, _ message: String) -> Ending {
        Ending(result: .failure(CallFailure(status, message)), outcome: .rejected(status), detail: message)
    }

    /// No decision could be made; another try may succeed.
    static func unavailable(_ detail: String) -> Ending {
        let failure = CallFailure(
            .unavailable, "The service is currently unavailable.", detail: detail, retryAfter: .seconds(5))
        return Ending(result: .failure(failure), outcome: .failed(.unavailable), detail: detail)
    }

    /// A fault of this service or of a plugin.
    static func fault(_ detail: String) -> Ending {
        let failure = CallFailure(.internalError, "Internal error encountered.", detail: detail)
        return Ending(result: .failure(failure), outcome: .failed(.internalError), detail: detail)
    }
}
