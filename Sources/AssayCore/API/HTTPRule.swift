/// One way to call a method over HTTP, in the style of gRPC transcoding (google.api.HttpRule).
///
/// A template's segments are literals, `*` for any one segment, and variables: `{name}` for one segment,
/// `{resource=projects/*/apps/*}` for several. A custom verb follows the last colon. What `{resource=…}` matches is the
/// call's resource; the other variables are fields of the request message.
public struct HTTPRule: Sendable, Hashable, CustomStringConvertible {
    /// The HTTP methods that rules may use (RFC 9110, section 9; PATCH: RFC 5789).
    @nonexhaustive public enum Verb: String, Sendable, Hashable, CaseIterable {
        case get = "GET"
        case post = "POST"
        case patch = "PATCH"
        case delete = "DELETE"
        /// Any HTTP method, also `OPTIONS` and unknown ones.
        case any = "*"
    }

    /// Where the request's body goes.
    @nonexhaustive public enum Body: Sendable, Hashable {
        /// The body is not used.
        case none
        /// The body is the request message.
        case message
        /// The body is one field of the request message.
        case field(String)
    }

    /// The HTTP method of the request.
    public let verb: Verb
    /// The path template, which starts with a slash.
    @Exact public private(set) var template: String
    /// The version of the API that the rule belongs to.
    public let version: APIVersion
    /// What the request's body holds.
    public let body: Body
    /// The fields that come from the query, each by its name in lowerCamelCase or snake_case; other parameters are
    /// passed over, unless the method refuses them.
    @Exact public private(set) var query: [String]

    /// Makes a rule from an HTTP method and a path template.
    ///
    /// - `body`: by default the message for `POST`, and none for other verbs.
    public init(_ verb: Verb, _ template: String, version: APIVersion, body: Body? = nil, query: [String] = []) {
        self.verb = verb
        self.template = template
        self.version = version
        self.body = body ?? (verb == .post ? .message : .none)
        self.query = query
    }

    /// The HTTP method and the template, for logs.
    public var description: String { "\(verb.rawValue) \(template)" }
}

/// The HTTP path of a method relative to its resources: the part after the resource's name.
///
///     MethodPath(.get, "/debugTokens", query: ["pageSize", "pageToken"])
///     MethodPath(.patch, "/debugTokens/{debugTokenId}", body: .field("debugToken"), query: ["updateMask"])
///     MethodPath(.post, ":mintAppCheckToken")
public struct MethodPath: Sendable, Hashable {
    /// The HTTP method of the request.
    public let verb: HTTPRule.Verb
    /// The part of the path after the resource's name, such as `:mintAppCheckToken`.
    @Exact public private(set) var suffix: String
    /// What the request's body holds; nil for the default of the HTTP method.
    public let body: HTTPRule.Body?
    /// The fields of the request message that come from the query.
    @Exact public private(set) var query: [String]
    /// The versions of the API that have the method.
    public let versions: [APIVersion]

    /// Makes a path for all versions of the API, unless `versions` names fewer.
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
    package func rules(for resources: Set<ResourceKind>) -> [HTTPRule] {
        versions.flatMap { version in
            ResourceKind.allCases.filter(resources.contains).map { kind in
                HTTPRule(
                    verb, "/\(version.rawValue)/{resource=\(kind.pattern)}\(suffix)", version: version, body: body,
                    query: query)
            }
        }
    }
}

/// The versions of the App Check API.
@nonexhaustive public enum APIVersion: String, Sendable, Hashable, CaseIterable {
    case v1
    case v1beta
}

/// The kinds of resources that methods are called on: apps and OAuth clients, which can obtain tokens, and projects.
@nonexhaustive public enum ResourceKind: String, Sendable, Hashable, CaseIterable {
    /// An app of a project.
    case app
    /// An OAuth client, which is linked to an app.
    case oauthClient
    /// A project.
    case project

    /// The pattern of the resource name, in the terms of gRPC transcoding.
    public var pattern: String {
        switch self {
        case .app: "projects/*/apps/*"
        case .oauthClient: "oauthClients/*"
        case .project: "projects/*"
        }
    }
}
