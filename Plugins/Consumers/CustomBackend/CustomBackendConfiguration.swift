public import AssayCore
public import AssayKit

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
    /// Where the proxy puts the original request; nil where the policy does not say.
    public let originalRequest: OriginalRequest?
    /// The status of an HTTP reply that allows a request; nil for 204.
    public internal(set) var successStatus: Int?
    /// What the backend demands for some requests; the first route that fits counts.
    public let routes: [Located<RouteConfiguration>]?
    /// HTTP methods for routes in addition to those that are registered with IANA; none when absent.
    public internal(set) var otherMethods: [String]?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case tokens
        case originalRequest = "original_request"
        case successStatus = "success_status"
        case routes
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

    enum CodingKeys: String, CodingKey, CaseIterable {
        case path, methods, tokens
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
    ]
}
