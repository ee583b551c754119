internal import AssayCore
internal import AssayKit

/// Verifies App Check tokens that are client assertions in requests to an authorization server.
///
/// Google Sign-In for iOS sends them in the query of authorization requests. A token in a URL can be used once.
struct ClientAssertionCheck: Sendable {
    /// What `client_assertion_type` says.
    static let type = "urn:ietf:params:oauth:client-assertion-type:appcheck"
    static let made = Metric.counter(
        "assertions_total", "Client assertions of App Check, by their results.",
        labels: [
            .init("result", Result.Kind.allCases.map(\.rawValue)),
            .init("enforcement", EnforcementMode.allCases.map(\.rawValue)),
        ])

    /// What a request's assertion turned out to be.
    struct Result: Sendable {
        /// The categories by which requests are counted.
        enum Kind: String, Sendable, CaseIterable {
            case verified
            /// The assertion is missing: perhaps an old version of the app.
            case missing
            /// The app could get no token.
            case placeholder
            case invalid
            /// The assertion was not checked.
            case unchecked
        }

        let kind: Kind
        /// Why it is invalid; nil when it is valid or was not checked.
        var reason: Reason?
        var detail: String?
        /// Whose token it is, and how the app proved itself.
        var token: VerifiedToken?
    }

    private let demand: TokenDemand
    private let clients: [ExactText: EnforcementMode]
    private let names: ClientNames

    /// - Parameter tokens: what the section demands of tokens, unless its part says otherwise.
    init(
        _ configuration: ClientAssertionConfiguration, names: ClientNames, under tokens: TokenDemand,
        problems: inout ConfigurationProblems
    ) {
        let path: [ConfigurationError.Component] = ["client_assertion"]
        problems.checkNotEmpty(configuration.providers, at: path + ["providers"])
        if let age = configuration.maximumAge, age <= .zero {
            problems.report(at: path + ["max_age"], "expected a duration above zero")
        }
        for client in (configuration.clients ?? [:]).keys.sorted() where !names.all.contains(client) {
            problems.report(
                ConfigurationError(
                    at: path + ["clients", .key(client.string)],
                    "unknown client `\(client)`: it is neither in `oauth_clients` of the project nor in `clients`",
                    found: client.string, known: names.all.map(\.string)))
        }
        demand = TokenDemand(
            requiresLimitedUse: configuration.limitedUse ?? true, replayProtection: .enforced,
            maximumAge: configuration.maximumAge, providers: configuration.providers.map { Set(exactly: $0) },
            acceptsDevelopment: configuration.acceptsDevelopment ?? tokens.acceptsDevelopment,
            enforcement: configuration.enforcement ?? .enforced)
        clients = configuration.clients ?? [:]
        self.names = names
    }

    /// What happens to a client's requests whose assertion is invalid.
    func enforcement(for client: String) -> EnforcementMode {
        clients[client] ?? demand.enforcement
    }

    /// Judges the assertion of a request, and uses up the token in it.
    ///
    /// - Throws: when that cannot be decided now.
    func judge(_ request: ClientAssertionRequest, _ tokens: any ConsumerTokens) async throws -> Result {
        func bad(_ kind: Result.Kind, _ reason: Reason, _ detail: String? = nil) -> Result {
            Result(kind: kind, reason: reason, detail: detail)
        }
        guard enforcement(for: request.clientID) > .off else { return Result(kind: .unchecked) }
        guard request.assertions.count <= 1, request.types.count <= 1 else {
            return bad(.invalid, OAuthClientReasons.assertionSeveral)
        }
        guard let assertion = request.assertions.first else {
            return bad(.missing, OAuthClientReasons.assertionMissing)
        }
        guard request.types.isExactly([ClientAssertionCheck.type]) else {
            return bad(.invalid, OAuthClientReasons.assertionType)
        }
        guard !ClientAssertionCheck.isPlaceholder(assertion) else {
            return bad(.placeholder, OAuthClientReasons.assertionPlaceholder)
        }
        let subjects = names.subjects(of: request.clientID)
        guard !subjects.isEmpty else { return bad(.invalid, OAuthClientReasons.assertionClient) }
        var demand = demand
        demand.enforcement = .enforced
        demand.apps = subjects
        switch try await tokens.inspect(assertion, demand) {
        case .refused(let reason):
            return bad(.invalid, OAuthClientReasons.assertionInvalid, reason.code)
        case .good(let token, let app):
            // The kernel has checked that already; a test double may not have.
            guard subjects.contains(token.subject), names.client(of: app).isExactly(request.clientID) else {
                return bad(.invalid, OAuthClientReasons.assertionInvalid, "it is of another client")
            }
            return Result(kind: .verified, token: token)
        }
    }

    /// Whether an assertion is the text that App Check's clients send instead of a token that they could not get: Base
    /// 64 of a JSON object with an error, such as `{"error":"UNKNOWN_ERROR"}`.
    static func isPlaceholder(_ assertion: String) -> Bool {
        guard assertion.utf8.count <= 1024, let bytes = Base64.decode(assertion),
            let json = try? JSON.parse(bytes, limits: JSON.Limits(bytes: 1024, depth: 4, values: 32))
        else { return false }
        return !(json["error"]?.string).isNil
    }
}
