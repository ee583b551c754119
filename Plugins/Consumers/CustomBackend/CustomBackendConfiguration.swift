public import AssayCore
public import AssayKit
internal import AssayRequestProof

/// The section `consumers.custom_backend` of a project's policy.
///
///     backends:
///       orders:
///         tokens: {enforcement: ENFORCED}
///         original_request: x-original
///         routes:
///           - path: /payments/*
///             methods: [POST]
///             tokens: {limited_use: true, max_age: 5m}
public struct CustomBackendConfiguration: Decodable, Sendable {
    /// The backends, by the names that proxies ask by.
    public let backends: [ExactText: BackendConfiguration]

    enum CodingKeys: String, CodingKey, CaseIterable {
        case backends
    }
}

/// The policy of one backend.
public struct BackendConfiguration: Decodable, Sendable {
    /// Where the proxy puts its client's request.
    public enum OriginalRequest: String, Decodable, Sendable, CaseIterable {
        /// `X-Original-URI` and `X-Original-Method`, as configurations of nginx have it.
        case original = "x-original"
        /// `X-Forwarded-Uri` and `X-Forwarded-Method`, as Caddy and Traefik do.
        case forwarded = "x-forwarded"
        /// A transport that says it itself, such as Envoy's `ext_authz` over gRPC.
        case transport
    }

    /// The backend's demand on tokens; absent keys have the values of the section's own `tokens`.
    public let tokens: TokenDemandConfiguration?
    /// Whether administrators may change the levels of `tokens` through the API; false when absent.
    public internal(set) var editable: Bool?
    /// Where the proxy puts the original request; nil where the policy does not say.
    public let originalRequest: OriginalRequest?
    /// The status of an HTTP reply that allows a request; nil for 204.
    public internal(set) var successStatus: Int?
    /// What the backend demands for some requests; the first route that fits counts.
    public let routes: [Located<RouteConfiguration>]?
    /// What is demanded of proofs that the token's device made the request; nil for nothing.
    public internal(set) var requestProof: RequestProofConfiguration?
    /// HTTP methods for routes in addition to those that are registered with IANA; none when absent.
    public internal(set) var otherMethods: [String]?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case tokens, editable
        case originalRequest = "original_request"
        case successStatus = "success_status"
        case routes
        case requestProof = "request_proof"
        case otherMethods = "other_methods"
    }

    static let successStatuses = 200...299
}

/// The policy of some of a backend's requests.
public struct RouteConfiguration: Decodable, Sendable {
    /// The path, or a pattern such as `/payments/*`.
    public let path: String
    /// The HTTP methods that the route is for; every method when absent.
    public let methods: [String]?
    /// The route's demand on tokens; absent keys have the values of the backend's own `tokens`.
    public let tokens: TokenDemandConfiguration
    /// Whether the requests need a proof; nil for what the backend's `request_proof` says.
    public internal(set) var requestProof: Bool?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case path, methods, tokens
        case requestProof = "request_proof"
    }
}

/// What a backend demands of proofs that the token's device made the request.
public struct RequestProofConfiguration: Decodable, Sendable {
    /// The backend's hosts, as clients write them.
    public let authorities: [String]
    /// How long a proof is good after it was made; one minute when absent.
    public let maximumAge: Duration?
    /// Whether requests need a proof, unless their route says otherwise; true when absent.
    public let isRequired: Bool?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case authorities
        case maximumAge = "max_age"
        case isRequired = "required"
    }
}

extension CustomBackendConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "backends": "The backends, each by the name in its proxy's questions: `/verify/NAME`."
    ]
}

extension BackendConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "tokens": "The demand on tokens; absent keys have the values of the section's own `tokens`.",
        "editable": PolicyKey(
            """
            Whether administrators may change the backend's `enforcement` and `replay_protection` through the API, as \
            `services/NAME` of its project. `tokens` then has the first levels. Routes that state a level keep it.
            """, standard: false),
        "original_request": PolicyKey(
            """
            Where the proxy says what its client asked for; needed for `routes`. It must set these headers itself, or \
            clients would choose their route: `x-original` (X-Original-URI and X-Original-Method, nginx), `x-forwarded` \
            (X-Forwarded-Uri and X-Forwarded-Method, Caddy and Traefik), `transport` (Envoy over gRPC).
            """),
        "success_status": PolicyKey(
            "The status of an HTTP reply that allows a request. Envoy over HTTP needs 200.",
            .range(successStatuses), standard: 204, examples: [200]),
        "routes": "Different demands for some requests; the first matching route applies.",
        "request_proof": PolicyKey(
            """
            Demands a proof that the token's device made the request: an App Attest assertion over its method, target and \
            content. Needs `key_in_tokens` in `app_attest` of the apps, and `original_request`.
            """),
        "other_methods": PolicyKey(
            "HTTP methods for `routes` in addition to those that are registered with IANA.", .notEmpty,
            examples: [["PURGE"]]),
    ]
}

extension RouteConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "path": PolicyKey(
            """
            The path, exactly; or what it begins with before a final `*`; or, before a final `/**`, a path with all that is \
            below it and with any suffix (`/bank/**`: `/bank`, `/bank/1`, `/bank.json`, not `/banking`).
            """, .pattern("^/([!$-)+-:=@-Z\\[\\]-{}~]*\\*?|([!$-)+-:=@-Z\\[\\]-{}~]*/)?\\*\\*)$"),
            examples: ["/payments/*", "/bank/**"]),
        "methods": PolicyKey(
            "The HTTP methods; GET includes HEAD. All methods when absent.", .notEmpty,
            examples: [["POST", "PUT"]]),
        "tokens": "The demand on tokens; absent keys have the values of the backend's own `tokens`.",
        "request_proof": PolicyKey(
            "Whether the requests need a proof; when absent, what the backend's `request_proof` says.",
            examples: [true]),
    ]
}

extension RequestProofConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "authorities": PolicyKey(
            "The backend's hosts as clients write them, in lower case, with a port other than 443 or 80; at most 8.",
            .notEmpty, examples: [["api.example.com"]]),
        "max_age": PolicyKey(
            "How long a proof is good after it was made.", .durations(RequestProofVerifier.ages), standard: "1m"),
        "required": PolicyKey("Whether requests need a proof, unless their route says otherwise.", standard: true),
    ]
}
