internal import AssayCore
internal import AssayHosting

/// How a request that must show a token is counted.
///
/// It does not say whether the request was let through: that follows from the answer, once there is one.
struct TokenCount: Sendable {
    /// The project's number.
    let project: String
    let service: String?
    let app: String?
    let category: TokenUse.Category
    let enforcement: EnforcementMode?

    /// - Parameter isAnswered: whether the answer is a reply and not a failure.
    func use(isAnswered: Bool) -> TokenUse {
        // Where the client decides, a token that was used before is answered by a reply, too.
        let isGood = enforcement != nil || category == .verified
        return TokenUse(
            project: project, service: service, app: app, category: category, enforcement: enforcement,
            isAdmitted: isAnswered && isGood)
    }
}

/// Something that a request would have been refused for, had its level been ENFORCED.
struct Waived: Sendable {
    /// Nil where it could not be decided.
    var reason: Reason?
    var detail: String?

    init(_ refusal: TokenInspection.Refusal) {
        (reason, detail) = (refusal.reason, refusal.detail)
    }

    init(_ error: any Error) {
        let failure = error as? CallFailure
        (reason, detail) = (failure?.reason, failure?.detail ?? "\(error)")
    }

    init(_ reason: Reason) {
        self.reason = reason
    }

    /// As the detail of a record says it.
    var words: String {
        "let through: " + [reason?.code, detail].compactMap(\.self).joined(separator: ", ")
    }
}
