/// The App Check tokens of one app: fetched with evidence, kept, renewed in time, and shared by all callers.
///
///     let appCheck = try AppCheck(
///         app: "projects/1234567890/apps/1:1234567890:ios:321abc456def7890",
///         endpoint: "https://assay.example.com", provider: AppAttestProvider())
///     request.setValue(try await appCheck.token().text, forHTTPHeaderField: "X-Firebase-AppCheck")
///
/// Make one for each app and keep it. All of it may be called from any task.
public final class AppCheck: Sendable {
    /// The resource name of the app.
    public let app: String
    private let driver: TokenDriver
    let fetcher: TokenFetcher
    let clock: any ClientClock

    /// Makes the tokens of an app available; sends nothing.
    ///
    /// - Parameters:
    ///   - app: the app's resource name, `projects/PROJECT/apps/APP_ID` or `oauthClients/CLIENT_ID`.
    ///   - endpoint: the server's URL, with or without `/v1`. Plain `http` is for this machine alone.
    ///   - provider: what makes the evidence.
    ///   - options: transport, storage and limits.
    /// - Throws: an error with the code `invalidConfiguration`, which says what is wrong.
    public init(
        app: String, endpoint: String, provider: any AppCheckProvider, options: AppCheckOptions
    ) throws(AppCheckError) {
        guard let name = AppName(app) else {
            throw AppCheckError(
                .invalidConfiguration,
                "`app` is no resource name: write projects/PROJECT/apps/APP_ID or oauthClients/CLIENT_ID.")
        }
        guard let service = ServerAddress(endpoint)?.service() else {
            throw AppCheckError(
                .invalidConfiguration,
                "`endpoint` is no URL such as https://assay.example.com, without user, query and fragment. Plain http is "
                    + "accepted for localhost, 127.0.0.1 and [::1] only.")
        }
        self.app = app
        clock = options.clock
        let fetcher = TokenFetcher(app: name, service: service, provider: provider, options: options)
        self.fetcher = fetcher
        var rules = TokenRules()
        rules.fetchLimit = options.fetchLimit
        driver = TokenDriver(
            lifecycle: TokenLifecycle(rules: rules, canRestore: true), clock: options.clock,
            perform: { await fetcher.perform($0) })
    }

    /// A session token with more than five minutes left.
    ///
    /// It comes from memory, else from storage, else from the server. Callers at the same time share one fetch. The
    /// token of a fetch is given to those that waited for it even if it lasts less than five minutes.
    ///
    /// - Parameter forcingRefresh: whether a token from memory or storage will not do, such as after a server refused
    ///   it. A fetch that runs already is joined.
    /// - Throws: `cancelled` when the caller's task is cancelled, which ends the fetch for nobody else; otherwise what
    ///   the fetch failed with. During the pause after a failure, its error at once: see ``AppCheckError/retryAfter``.
    public nonisolated(nonsending) func token(
        forcingRefresh: Bool = false
    ) async throws(AppCheckError) -> AppCheckToken {
        if !forcingRefresh, let token = driver.usable() { return token }
        return try await driver.token(isForced: forcingRefresh)
    }

    /// A token for one use, which is made for this caller alone and not kept.
    ///
    /// Callers are served one after the other, since a device's counter must rise from one assertion to the next.
    public nonisolated(nonsending) func limitedUseToken() async throws(AppCheckError) -> AppCheckToken {
        try await driver.limitedUseToken()
    }

    /// A newer token than one that a backend has refused; nil when that one is younger than a minute.
    ///
    /// A backend that refuses every token must not make each call a fetch. For what calls backends in a way of its own,
    /// as ``ProtectedCalls`` does over HTTP.
    ///
    /// - Parameter refused: the session token that was sent.
    /// - Throws: the errors of ``token(forcingRefresh:)``.
    public nonisolated(nonsending) func token(
        after refused: AppCheckToken
    ) async throws(AppCheckError) -> AppCheckToken? {
        let token = try await token()
        guard token.text.sameBytes(as: refused.text) else { return token }
        return clock.now - refused.requested < .minutes(1) ? nil : try await self.token(forcingRefresh: true)
    }

    /// The debug token that this device uses, to show it or to register it; nil where the provider is no ``DebugProvider``.
    ///
    /// It is made and kept if there is none. Sends nothing.
    ///
    /// - Throws: `invalidConfiguration` for a debug token that was set and can be none.
    public func currentDebugToken() throws(AppCheckError) -> String? { try fetcher.debugToken() }

    /// Tokens and errors as they come; while somebody listens, the token is refreshed in the background.
    public var updates: TokenUpdates { TokenUpdates(driver: driver) }
}

#if canImport(Darwin)
extension AppCheck {
    /// Makes the tokens of an app available, with `URLSession` and the Keychain; sends nothing.
    ///
    /// - Throws: an error with the code `invalidConfiguration`, which says what is wrong.
    public convenience init(
        app: String, endpoint: String, provider: any AppCheckProvider
    ) throws(AppCheckError) {
        try self.init(app: app, endpoint: endpoint, provider: provider, options: AppCheckOptions())
    }
}
#endif
