/// Tokens for Google Maps Fleet Engine, each for one trip, vehicle, task or shipment.
///
///     let tokens = try FleetEngineTokens(
///         appCheck: appCheck, endpoint: "https://assay.example.com", options: options) { await session.userToken() }
///     let token = try await tokens.fetchToken(for: .trip("trip-1"))
///
/// A token is kept until ten minutes before its end, for its own trip or vehicle alone. Fetches in flight are shared.
/// Call ``forget()`` when the user changes.
public final class FleetEngineTokens: Sendable {
    private struct Entry: Sendable {
        let context: FleetEngineContext
        let driver: TokenDriver
    }

    /// The most trips and vehicles whose tokens are kept; those asked for last.
    private static let entryLimit = 64
    private static let rules: TokenRules = {
        var rules = TokenRules()
        rules.margin = .minutes(10)
        return rules
    }()

    private let requests: FleetEngineRequests
    /// The one that was asked for last is the last.
    private let entries = Lock<[Entry]>([])

    /// Makes the tokens available; sends nothing.
    ///
    /// - Parameters:
    ///   - appCheck: the app's tokens, which prove the app to the server.
    ///   - endpoint: the server's URL, below which the paths of Google's samples are: `/token/driver/…`.
    ///   - fleetProvider: Fleet Engine's provider, which is the project's ID; needed for tasks.
    ///   - options: transport, clock and limits.
    ///   - kind: the App Check tokens that are sent: `.limitedUse` where the policy asks for it (`limited_use: true`).
    ///   - user: the JWT of the signed-in user, who may have the token; nil for none.
    /// - Throws: an error with the code `invalidConfiguration`.
    public init(
        appCheck: AppCheck, endpoint: String, fleetProvider: String? = nil, options: AppCheckOptions,
        appCheckToken kind: ProtectedCalls.TokenKind = .session,
        user: @escaping @Sendable () async throws -> String?
    ) throws(AppCheckError) {
        guard let address = ServerAddress(endpoint), !address.target.utf8.contains(UInt8(ascii: "?")) else {
            throw AppCheckError(
                .invalidConfiguration,
                "`endpoint` is no URL such as https://assay.example.com, without user, query and fragment.")
        }
        requests = FleetEngineRequests(
            appCheck: appCheck, address: address, fleetProvider: fleetProvider, options: options, kind: kind, user: user
        )
    }

    /// The token for a trip, vehicle, task or shipment.
    ///
    /// - Throws: `invalidConfiguration` for an identifier that can be none; what the server refused it with; the errors
    ///   of ``AppCheck/token(forcingRefresh:)``.
    public nonisolated(nonsending) func fetchToken(
        for context: FleetEngineContext
    ) async throws(AppCheckError) -> FleetEngineToken {
        guard context.isValid else {
            throw AppCheckError(.invalidConfiguration, "\(context) is no identifier that Fleet Engine can have.")
        }
        let driver = driver(for: context)
        let token =
            if let token = driver.usable() { token } else { try await driver.token(isForced: false) }
        return FleetEngineToken(
            text: token.text, context: context, expires: token.expires,
            secondsLeft: max((token.expires - requests.options.clock.now).wholeSeconds, 0))
    }

    /// Drops all tokens, as when another user signs in.
    public func forget() {
        entries.withLock { $0 = [] }
    }

    private func driver(for context: FleetEngineContext) -> TokenDriver {
        entries.withLock { entries in
            let found = entries.firstIndex { $0.context.isSame(as: context) }.map { entries.remove(at: $0) }
            let entry =
                found
                ?? Entry(
                    context: context,
                    driver: TokenDriver(
                        lifecycle: TokenLifecycle(rules: Self.rules, canRestore: false), clock: requests.options.clock,
                        perform: { [requests] _ in await requests.perform(context) }))
            if entries.count >= Self.entryLimit { entries.removeFirst() }
            entries.append(entry)
            return entry.driver
        }
    }
}

/// The requests for tokens.
struct FleetEngineRequests: Sendable {
    private static let audience = "https://fleetengine.googleapis.com/"

    let appCheck: AppCheck
    let address: ServerAddress
    let fleetProvider: String?
    let options: AppCheckOptions
    let kind: ProtectedCalls.TokenKind
    let user: @Sendable () async throws -> String?

    func perform(_ context: FleetEngineContext) async -> Result<AppCheckToken?, AppCheckError> {
        do {
            return .success(try await token(context))
        } catch let error as AppCheckError {
            return .failure(error)
        } catch {
            return .failure(
                AppCheckError(.providerFailed, "The user's token could not be had; the cause is its own.", cause: error)
            )
        }
    }

    private func token(_ context: FleetEngineContext) async throws -> AppCheckToken {
        let user = try await user()
        if let user, !TokenClaims.isToken(user) {
            throw AppCheckError(.invalidConfiguration, "The user's token has spaces or line breaks, or is too long.")
        }
        let start = options.clock.now
        let response = try await send(context, user)
        guard (200...299).contains(response.status) else {
            throw AppCheckError(response, of: "the token for Fleet Engine", for: "\(context)")
        }
        return try FleetEngineReply.read(response, start: start, unixMilliseconds: options.clock.unixMilliseconds)
    }

    private func send(_ context: FleetEngineContext, _ user: String?) async throws(AppCheckError) -> ClientResponse {
        var request = ClientRequest(
            url: "", headers: [ClientHeader("Accept", "application/json")], timeLimit: options.requestLimit,
            responseLimit: ClientLimits.reply)
        if let path = context.path {
            guard let url = address.appending(path) else { throw Self.tooLong }
            request.url = url.text
            if let user { request.headers.append(ClientHeader("Authorization", "Bearer \(user)")) }
            return try await ProtectedCalls(appCheck: appCheck, transport: options.transport, token: kind).send(request)
        }
        guard let fleetProvider, !fleetProvider.isEmpty else {
            throw AppCheckError(
                .invalidConfiguration, "Tokens for tasks need `fleetProvider`, which is the project's ID.")
        }
        guard let url = address.appending("/token") else { throw Self.tooLong }
        request.method = "POST"
        request.url = url.text
        request.headers.append(ClientHeader("Content-Type", "application/x-www-form-urlencoded"))
        let jwt = "urn:ietf:params:oauth:token-type:jwt"
        let resource =
            "\(Self.audience)v1/providers/\(PathSegment.encode(fleetProvider))/tasks/\(PathSegment.encode(context.id))"
        var form = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"), ("audience", Self.audience),
            ("scope", "delivery_consumer"), ("resource", resource), ("subject_token_type", jwt),
            ("subject_token", try await appCheck.token(kind).text),
        ]
        if let user { form += [("actor_token_type", jwt), ("actor_token", user)] }
        request.body = Array(form.map { "\($0.0)=\(PathSegment.encode($0.1))" }.joined(separator: "&").utf8)
        return try await options.transport.deliver(request)
    }

    private static let tooLong = AppCheckError(.invalidConfiguration, "`endpoint` is too long for the path of a token.")
}
