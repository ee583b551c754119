public import AssayCore

/// How a request that showed a token, or should have, is counted: in the categories of App Check's console.
///
/// Every value comes from the policies or from this type: label cardinality is bounded.
public struct TokenUse: Sendable, Hashable {
    /// The categories of App Check's console.
    public enum Category: String, Sendable, Hashable, CaseIterable {
        /// The token is valid.
        case verified
        /// The request has no token and looks like one of a Firebase SDK: an app from before App Check was added.
        case outdatedClient = "outdated_client"
        /// The request has no token and does not look like one of a Firebase SDK.
        case unknownOrigin = "unknown_origin"
        /// The token is invalid; clients that could not obtain a token send a placeholder.
        case invalid
        /// The token is valid, and was consumed before.
        case reused
    }

    /// The project's number.
    @Exact public private(set) var project: String
    /// The service that the request was for; nil when the caller did not name it.
    @Exact public private(set) var service: String?
    /// The app or OAuth client that the token speaks for; without a valid token, the one that the request claims to
    /// come from, where a policy knows it; nil when it is not known.
    @Exact public private(set) var app: String?
    /// The category of App Check's console.
    public let category: Category
    /// The level that the decision was made by; nil where it is left to the caller, as with `verifyAppCheckToken`.
    public let enforcement: EnforcementMode?
    /// Whether the request was let through, according to the response.
    ///
    /// Where the caller decides, as with `verifyAppCheckToken`, whether the token is valid and was not used before.
    public let isAdmitted: Bool

    /// Makes the count of one request; nil stands for what is unknown.
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
