/// Why evidence, a challenge or a token was refused: a stable code for logs, audit records, metric labels and tests.
///
/// A reason says which check failed, never what a secret was. Clients do not see it; operators do, under the decision
/// id that clients are given. Every plugin lists its reasons in its `PluginDescriptor`, and the kernel refuses to
/// start when two plugins claim one code.
public struct Reason: Sendable, Hashable, CustomStringConvertible {
    /// The stable code: lower-case words joined by underscores.
    ///
    /// It never changes its meaning.
    public let code: String
    /// One sentence for people.
    public let summary: String
    /// What an operator does about it: where to look, what to change, or that nothing needs to be done.
    ///
    /// Empty if there is none.
    public let advice: String
    /// The status of the answer to a client whose evidence is refused for it, unless the policy says another one
    /// (`refusal_status`).
    public let status: RefusalStatus

    /// Declares a reason.
    ///
    /// - `code`: unique among all plugins of a program.
    /// - `advice`: one to three sentences for operators, as `assay reasons CODE` prints them.
    /// - `status`: how a provider's refusal of evidence is answered. Choose by how long clients are silent after it.
    public init(_ code: String, _ summary: String, advice: String = "", status: RefusalStatus = .forbidden) {
        self.code = code
        self.summary = summary
        self.advice = advice
        self.status = status
    }

    /// The same reason with another status; the same one for nil.
    package func with(_ status: RefusalStatus?) -> Reason {
        Reason(code, summary, advice: advice, status: status ?? self.status)
    }

    /// Whether two reasons have one code.
    public static func == (left: Reason, right: Reason) -> Bool {
        left.code.isExactly(right.code)
    }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) {
        code.hashExactly(into: &hasher)
    }

    /// The code.
    public var description: String { code }
}

/// The statuses by which refusals of evidence may be answered: they differ in how long clients are silent then.
public enum RefusalStatus: Int, Sendable, Hashable, CaseIterable {
    /// `UNAUTHENTICATED`: clients try again after some seconds.
    case unauthorized = 401
    /// `PERMISSION_DENIED`, for evidence that will be refused again: pages are silent for a day.
    case forbidden = 403
    /// `RESOURCE_EXHAUSTED`: clients try again after some seconds.
    case tooManyRequests = 429

    /// The canonical status.
    public var code: StatusCode {
        switch self {
        case .unauthorized: .unauthenticated
        case .forbidden: .permissionDenied
        case .tooManyRequests: .resourceExhausted
        }
    }
}
