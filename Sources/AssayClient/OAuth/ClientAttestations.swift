/// The client attestations of an app's instance, each for one authorization server and with a key of its own.
///
///     let attestations = try ClientAttestations(
///         appCheck: appCheck, endpoint: "https://assay.example.com", keys: EnclaveKeys(), options: options)
///     let attestation = try await attestations.clientAttestation(for: "https://login.example.com")
///
/// An attestation is kept until five minutes before its end, also over a restart of the program. Fetches in flight are
/// shared. Two authorization servers get different keys, and so cannot find out by them that they have the same user.
public final class ClientAttestations: Sendable {
    private struct Entry: Sendable {
        let server: String
        let fetcher: AttestationFetcher
        let driver: TokenDriver
    }

    /// The most authorization servers; those asked for last.
    private static let entryLimit = 16

    let options: AppCheckOptions
    private let appCheck: AppCheck
    private let address: ServerAddress
    private let client: String?
    private let keys: any InstanceKeys
    private let storage: BoundStorage
    /// The one that was asked for last is the last.
    private let entries = Lock<[Entry]>([])
    /// The nonces and the clocks of servers.
    let memory = ServerMemory()

    /// Makes attestations available; sends nothing.
    ///
    /// - Parameters:
    ///   - appCheck: the app's tokens, which prove the app to the attester. Each attestation needs one limited-use
    ///     token.
    ///   - endpoint: the attester's URL, below which `/client-attestation` is.
    ///   - client: the client's identifier; nil for that of an `oauthClients/…` app, and for the one that the
    ///     attester names otherwise.
    ///   - keys: makes the instance's keys.
    ///   - options: transport, storage, clock and limits.
    /// - Throws: an error with the code `invalidConfiguration`.
    public init(
        appCheck: AppCheck, endpoint: String, client: String? = nil, keys: any InstanceKeys, options: AppCheckOptions
    ) throws(AppCheckError) {
        guard let address = ServerAddress(endpoint)?.service(), let app = AppName(appCheck.app) else {
            throw AppCheckError(
                .invalidConfiguration,
                "`endpoint` is no URL such as https://assay.example.com, without user, query and fragment.")
        }
        self.appCheck = appCheck
        self.address = address
        self.client = client ?? app.client
        self.keys = keys
        self.options = options
        storage = BoundStorage(app: app, address: address, options: options)
    }

    /// The attestation for an authorization server.
    ///
    /// - Parameter server: the server's issuer identifier, such as `https://login.example.com`.
    /// - Throws: what the attester refused it with; `foreignToken` for an attestation of another client or key; the
    ///   errors of ``AppCheck/limitedUseToken()``.
    public nonisolated(nonsending) func clientAttestation(
        for server: String
    ) async throws(AppCheckError) -> ClientAttestation {
        let entry = try entry(for: server)
        let token =
            if let token = entry.driver.usable() { token } else { try await entry.driver.token(isForced: false) }
        return try entry.fetcher.attestation(token)
    }

    /// A newer attestation than one that a server calls not fresh enough; nil when that one is younger than a minute.
    nonisolated(nonsending) func clientAttestation(
        for server: String, after refused: ClientAttestation
    ) async throws(AppCheckError) -> ClientAttestation? {
        let present = try await clientAttestation(for: server)
        guard present.text.sameBytes(as: refused.text) else { return present }
        guard options.clock.now - refused.token.requested >= .minutes(1) else { return nil }
        let entry = try entry(for: server)
        return try entry.fetcher.attestation(try await entry.driver.token(isForced: true))
    }

    /// The time by the attester's clock; nil when it did not answer since the program began.
    var attesterTime: Int64? { memory.unixSeconds(at: address, now: options.clock.now) }

    /// The key for an authorization server, without an attestation.
    func key(for server: String) throws(AppCheckError) -> InstanceKeyHolder.Stored {
        try entry(for: server).fetcher.holder.key()
    }

    /// Drops the key and the attestation for an authorization server, as when the user signs out: what is bound to the
    /// key, such as a refresh token, is of no use from then on.
    public func forget(_ server: String) {
        entries.withLock { entries in entries.removeAll { $0.server.sameBytes(as: server) } }
        storage.remove(AttestationFetcher.keyName(server))
        storage.remove(AttestationFetcher.attestationName(server))
    }

    private func entry(for server: String) throws(AppCheckError) -> Entry {
        guard ServerAddress(server) != nil else {
            throw AppCheckError(
                .invalidConfiguration,
                "The authorization server is no issuer identifier such as https://login.example.com.")
        }
        return entries.withLock { entries in
            if let index = entries.firstIndex(where: { $0.server.sameBytes(as: server) }) {
                let entry = entries.remove(at: index)
                entries.append(entry)
                return entry
            }
            let holder = InstanceKeyHolder(
                keys: keys, storage: storage, name: AttestationFetcher.keyName(server), notice: options.notice)
            let fetcher = AttestationFetcher(
                appCheck: appCheck, address: address, client: client, name: AttestationFetcher.attestationName(server),
                storage: storage, holder: holder, memory: memory, options: options)
            var rules = TokenRules()
            rules.fetchLimit = options.fetchLimit
            let driver = TokenDriver(
                lifecycle: TokenLifecycle(rules: rules, canRestore: true), clock: options.clock,
                perform: { await fetcher.perform($0) })
            let entry = Entry(server: server, fetcher: fetcher, driver: driver)
            if entries.count >= Self.entryLimit { entries.removeFirst() }
            entries.append(entry)
            return entry
        }
    }
}
