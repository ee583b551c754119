/// One way to call a method over HTTP, in the style of gRPC transcoding (google.api.HttpRule).
///
/// A template's segments are literals, `*` for any one segment, and variables: `{name}` for one segment,
/// `{resource=projects/*/apps/*}` for several. A custom verb follows the last colon. What `{resource=…}` matches is the
/// call's resource; the other variables are fields of the request message.
public struct HTTPRule: Sendable, Hashable, CustomStringConvertible {
    public enum Verb: String, Sendable, Hashable, CaseIterable {
        case get = "GET"
        case post = "POST"
        case patch = "PATCH"
        case delete = "DELETE"
        /// Whatever the method is, `OPTIONS` and those that are not known included.
        case any = "*"
    }

    /// Where the request's body goes.
    public enum Body: Sendable, Hashable {
        /// There is none.
        case none
        /// The body is the request message.
        case message
        /// The body is one field of the request message.
        case field(String)
    }

    public let verb: Verb
    @Exact public private(set) var template: String
    public let version: APIVersion
    public let body: Body
    /// The fields that come from the query, each by its name in lowerCamelCase or snake_case; other parameters are
    /// passed over.
    @Exact public private(set) var query: [String]

    /// - Parameter body: by default the message for `POST`, and none for other verbs.
    public init(_ verb: Verb, _ template: String, version: APIVersion, body: Body? = nil, query: [String] = []) {
        self.verb = verb
        self.template = template
        self.version = version
        self.body = body ?? (verb == .post ? .message : .none)
        self.query = query
    }

    public var description: String { "\(verb.rawValue) \(template)" }
}

/// Where a method stands under the resources that it is called on: what follows the resource's name in a path.
///
///     MethodPath(.get, "/debugTokens", query: ["pageSize", "pageToken"])
///     MethodPath(.patch, "/debugTokens/{debugTokenId}", body: .field("debugToken"), query: ["updateMask"])
///     MethodPath(.post, ":mintAppCheckToken")
public struct MethodPath: Sendable, Hashable {
    public let verb: HTTPRule.Verb
    @Exact public private(set) var suffix: String
    public let body: HTTPRule.Body?
    @Exact public private(set) var query: [String]
    /// The versions of the API that have the method.
    public let versions: [APIVersion]

    public init(
        _ verb: HTTPRule.Verb, _ suffix: String, body: HTTPRule.Body? = nil, query: [String] = [],
        versions: [APIVersion] = APIVersion.allCases
    ) {
        self.verb = verb
        self.suffix = suffix
        self.body = body
        self.query = query
        self.versions = versions
    }

    /// The rules for the kinds of resources that a method is called on.
    func rules(for resources: Set<ResourceKind>) -> [HTTPRule] {
        versions.flatMap { version in
            ResourceKind.allCases.filter(resources.contains).map { kind in
                HTTPRule(
                    verb, "/\(version.rawValue)/{resource=\(kind.pattern)}\(suffix)", version: version, body: body,
                    query: query)
            }
        }
    }
}
