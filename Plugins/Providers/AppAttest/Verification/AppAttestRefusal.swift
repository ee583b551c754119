public import AssayKit

/// A refusal of evidence: the reason, and what exactly was found.
public struct AppAttestRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// Which check failed.
    public let reason: Reason
    /// What was found, for an operator; no secret.
    @Exact public private(set) var detail: String?

    init(_ reason: Reason, _ detail: String? = nil) {
        self.reason = reason
        self.detail = detail
    }

    public var description: String {
        detail.map { "\(reason.code): \($0)" } ?? reason.code
    }
}
