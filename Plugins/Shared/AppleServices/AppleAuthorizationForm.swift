/// How the token stands in the header `Authorization`.
///
/// Apple's text and its samples disagree, and its servers have been seen to take both (Apple, Assessing Fraud Risk;
/// Apple, Accessing and Modifying Per-Device Data).
public enum AppleAuthorizationForm: String, Decodable, Sendable, CaseIterable {
    /// The token alone.
    case bare
    /// `Bearer `, then the token (RFC 6750).
    case bearer

    /// The value of the header.
    package func header(_ token: AppleServerToken) -> String {
        switch self {
        case .bare: token.text
        case .bearer: "Bearer \(token.text)"
        }
    }
}
