/// What a method looks like from outside: what transports route by, and `assay methods` prints.
public struct MethodDescriptor: Sendable, Hashable {
    /// What a method does.
    public enum Kind: Sendable, Hashable {
        /// Hands out a challenge.
        case challenge
        /// Exchanges evidence for a token.
        case exchange(TokenReply)
        /// Publishes the keys that verify tokens.
        case keySet
    }

    /// How the reply of an exchange holds the token.
    public enum TokenReply: Sendable, Hashable {
        /// The reply is the token: `{"token", "ttl"}`.
        case alone
        /// The token stands under `appCheckToken`, beside fields of the provider.
        case enclosed
    }

    /// The name, and the custom verb of its HTTP rules: `exchangeDebugToken`.
    public let name: String
    public let kind: Kind
    /// The kinds of resources that it is called on; empty when it has none.
    public let resources: Set<ResourceKind>

    public init(name: String, kind: Kind, resources: Set<ResourceKind>) {
        self.name = name
        self.kind = kind
        self.resources = resources
    }

    /// How the method is called over HTTP, in every version of the API.
    public var rules: [HTTPRule] {
        APIVersion.allCases.flatMap { version in
            if kind == .keySet {
                [HTTPRule(.get, "/\(version.rawValue)/\(name)", version: version)]
            } else {
                ResourceKind.allCases.filter(resources.contains).map { kind in
                    HTTPRule(.post, "/\(version.rawValue)/{resource=\(kind.pattern)}:\(name)", version: version)
                }
            }
        }
    }
}

/// The versions of the App Check API.
public enum APIVersion: String, Sendable, Hashable, CaseIterable {
    case v1
    case v1beta
}

/// One way to call a method over HTTP, in the style of gRPC transcoding (google.api.HttpRule).
///
/// A template's segments are literals, `*` for any one segment, and variables: `{name}` for one segment,
/// `{resource=projects/*/apps/*}` for several. A custom verb follows the last colon.
public struct HTTPRule: Sendable, Hashable, CustomStringConvertible {
    public enum Verb: String, Sendable, Hashable {
        case get = "GET"
        case post = "POST"
    }

    public let verb: Verb
    public let template: String
    public let version: APIVersion

    public init(_ verb: Verb, _ template: String, version: APIVersion) {
        self.verb = verb
        self.template = template
        self.version = version
    }

    public var description: String { "\(verb.rawValue) \(template)" }
}
