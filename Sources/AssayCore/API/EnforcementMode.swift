/// How far App Check protects a service: the levels of Google's service, in their order.
public enum EnforcementMode: String, Decodable, Sendable, Hashable, CaseIterable, Comparable {
    /// Requests are allowed, and their tokens are not checked.
    case off = "OFF"
    /// Tokens are verified and requests counted; all requests are allowed.
    case unenforced = "UNENFORCED"
    /// Requests without a valid token are refused.
    case enforced = "ENFORCED"

    /// Orders the levels by strictness: `OFF`, `UNENFORCED`, `ENFORCED`.
    public static func < (left: EnforcementMode, right: EnforcementMode) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int {
        switch self {
        case .off: 0
        case .unenforced: 1
        case .enforced: 2
        }
    }
}
