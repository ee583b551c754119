public import AssayCore

/// How a request is counted that had a token, or should have had one: in the categories of App Check's console.
///
/// Every value comes from the policies or from this type: label cardinality is bounded.
public struct TokenUse: Sendable, Hashable {
    /// The categories of App Check's console.
    @nonexhaustive public enum Category: String, Sendable, Hashable, CaseIterable {
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
    /// The app or OAuth client of the token; without a valid token, the one that the request claims to come from, if a
    /// policy knows it; nil when unknown.
    @Exact public private(set) var app: String?
    /// The category of App Check's console.
    public let category: Category
    /// The level of the decision; nil if the caller decides, as with `verifyAppCheckToken`.
    public let enforcement: EnforcementMode?
    /// Whether the request was allowed, according to the response.
    ///
    /// If the caller decides, as with `verifyAppCheckToken`, whether the token is valid and was not used before.
    public let isAdmitted: Bool

    /// Makes the count of one request; nil means unknown.
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
