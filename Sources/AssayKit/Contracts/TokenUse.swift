/// How a request that showed a token, or should have, is counted: in the categories of App Check's console.
///
/// Every value is one of a few that the policies or this type list, so that a metric may have them all as labels.
public struct TokenUse: Sendable, Hashable {
    /// The categories of App Check's console.
    public enum Category: String, Sendable, Hashable, CaseIterable {
        /// The token is good.
        case verified
        /// There is no token, and the request looks like one of a Firebase SDK: an app from before App Check was added.
        case outdatedClient = "outdated_client"
        /// There is no token, and nothing that looks like a Firebase SDK.
        case unknownOrigin = "unknown_origin"
        /// There is a token that is not good; clients send a placeholder where they could not obtain one.
        case invalid
        /// The token is good, and was consumed before.
        case reused
    }

    /// The project's number.
    @Exact public private(set) var project: String
    /// The service that the request was for; nil when whoever had the token verified did not say.
    @Exact public private(set) var service: String?
    /// The app or OAuth client that the token speaks for; without a good token, the one that the request claims to come
    /// from, where a policy knows it; nil when it is not known.
    @Exact public private(set) var app: String?
    public let category: Category
    /// The level that the decision was made by; nil where it is left to the caller, as with `verifyAppCheckToken`.
    public let enforcement: EnforcementMode?
    /// Whether the request was let through, as the client, the proxy or the backend that asked was answered. Where the decision
    /// is left to that one, as with `verifyAppCheckToken`, whether the token is good and was not used before.
    public let isAdmitted: Bool

    public init(
        project: String, service: String?, app: String?, category: Category, enforcement: EnforcementMode?,
        isAdmitted: Bool
    ) {
        self.project = project
        self.service = service
        self.app = app
        self.category = category
        self.enforcement = enforcement
        self.isAdmitted = isAdmitted
    }
}
