/// Fetches tokens of one app by its provider, checks them, and keeps them.
struct TokenFetcher: Sendable {
    private let app: AppName
    private let service: AppCheckService
    private let storage: BoundStorage
    private let provider: any AppCheckProvider
    private let options: AppCheckOptions

    init(app: AppName, service: ServerAddress, provider: any AppCheckProvider, options: AppCheckOptions) {
        self.app = app
        self.provider = provider
        self.options = options
        self.service = AppCheckService(app: app, address: service, options: options)
        storage = BoundStorage(app: app, address: service, options: options)
    }

    func perform(_ fetch: TokenLifecycle.Fetch) async -> Result<AppCheckToken?, AppCheckError> {
        switch fetch.purpose {
        case .restore: .success(restored())
        case .session: await fetched(isLimitedUse: false, since: fetch.started)
        case .limitedUse: await fetched(isLimitedUse: true, since: fetch.started)
        }
    }

    private func fetched(isLimitedUse: Bool, since start: Moment) async -> Result<AppCheckToken?, AppCheckError> {
        do {
            let issued = try await provider.token(
                TokenRequest(
                    isLimitedUse: isLimitedUse, app: app.text, service: service, storage: storage,
                    notice: options.notice, environment: options.environment))
            let token = try checked(issued, isLimitedUse: isLimitedUse, since: start)
            if !isLimitedUse, let boot = options.clock.boot {
                storage.save(StoredToken.encode(token, boot: boot), as: StoredToken.name)
            }
            return .success(token)
        } catch let error as AppCheckError {
            return .failure(error)
        } catch {
            return .failure(
                AppCheckError(
                    .providerFailed, "The provider \(type(of: provider)) failed; the cause is its own.", cause: error))
        }
    }

    private func checked(
        _ issued: IssuedToken, isLimitedUse: Bool, since start: Moment
    ) throws(AppCheckError) -> AppCheckToken {
        let claimed = try TokenClaims.lifetime(of: issued.text, for: app)
        guard issued.lifetime > .zero, issued.lifetime <= .minutes(7 * 24 * 60), claimed ?? .seconds(1) > .zero else {
            throw AppCheckError(
                .malformedReply,
                "The token's lifetime is \(issued.lifetime): it must be more than 0 s and at most 7 days.")
        }
        // Never after the present: a provider cannot make a token last longer.
        let requested = min(issued.requested ?? start, options.clock.now)
        let lifetime = min(issued.lifetime, claimed ?? issued.lifetime)
        return AppCheckToken(
            text: issued.text, requested: requested, received: options.clock.now, expires: requested + lifetime,
            isLimitedUse: isLimitedUse)
    }

    /// The debug token in use; nil where the provider has none.
    func debugToken() throws(AppCheckError) -> String? {
        guard let provider = provider as? DebugProvider else { return nil }
        return try provider.current(storage, options.environment).token
    }

    /// Signs with the device's key, for a proof.
    func assertion(over clientDataHash: [UInt8], by keyID: String) async throws(AppCheckError) -> [UInt8] {
        guard let prover = provider as? any RequestProver else {
            throw AppCheckError(
                .unsupportedDevice,
                "The provider \(type(of: provider)) has no key that signs requests. App Attest has one.")
        }
        do {
            if let assertion = try await prover.assertion(over: clientDataHash, by: keyID, storage) { return assertion }
        } catch let error as AppCheckError {
            throw error
        } catch {
            throw AppCheckError(
                .providerFailed, "The provider \(type(of: provider)) could not sign the request.", cause: error)
        }
        throw AppCheckError(
            .keyChanged, "The device has another key than the token names. Get a new token: `forcingRefresh`.")
    }

    private func restored() -> AppCheckToken? {
        guard let boot = options.clock.boot, let bytes = storage.load(StoredToken.name) else { return nil }
        guard let token = StoredToken.decode(bytes, boot: boot, at: options.clock.now),
            (try? TokenClaims.lifetime(of: token.text, for: app)) != nil
        else {
            storage.remove(StoredToken.name)
            return nil
        }
        return token
    }
}
