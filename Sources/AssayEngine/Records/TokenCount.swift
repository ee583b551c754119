internal import AssayCore
internal import AssayKit

/// How a request that must carry a token is counted.
///
/// It does not say whether the request was allowed: that follows from the answer.
package struct TokenCount: Sendable {
    /// The project's number.
    let project: String
    let service: String?
    let app: String?
    let category: TokenUse.Category
    let enforcement: EnforcementMode?

    /// - Parameter isAnswered: whether the answer is a reply and not a failure.
    func use(isAnswered: Bool) -> TokenUse {
        // If the client decides, a token that was used before also gets a reply.
        let isGood = enforcement != nil || category == .verified
        return TokenUse(
            project: project, service: service, app: app, category: category, enforcement: enforcement,
            isAdmitted: isAnswered && isGood)
    }
}

/// A reason for which a request would have been refused, had its level been ENFORCED.
struct Waived: Sendable {
    /// Nil if it could not be decided.
    var reason: Reason?
    var detail: String?

    init(_ error: any Error) {
        let failure = error as? CallFailure
        (reason, detail) = (failure?.reason, failure?.detail ?? "\(error)")
    }

    init(_ reason: Reason, _ detail: String? = nil) {
        self.reason = reason
        self.detail = detail
    }

    /// The reason in the detail of a record.
    var words: String {
        "let through: " + [reason?.code, detail].compactMap(\.self).joined(separator: ", ")
    }
}
