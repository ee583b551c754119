/// Fetches attestations for one authorization server, checks them, and keeps them.
struct AttestationFetcher: Sendable {
    let appCheck: AppCheck
    let address: ServerAddress
    /// The client that they must be of; nil for any.
    let client: String?
    /// What they are stored as.
    let name: String
    let storage: BoundStorage
    let holder: InstanceKeyHolder
    let memory: ServerMemory
    let options: AppCheckOptions

    static func keyName(_ server: String) -> String { "oauth-key \(server)" }
    static func attestationName(_ server: String) -> String { "oauth-attestation \(server)" }

    func perform(_ fetch: TokenLifecycle.Fetch) async -> Result<AppCheckToken?, AppCheckError> {
        do throws(AppCheckError) {
            if fetch.purpose == .restore { return .success(try restored()) }
            return .success(try await fetched(since: fetch.started))
        } catch {
            return .failure(error)
        }
    }

    /// A cached attestation with its key.
    func attestation(_ token: AppCheckToken) throws(AppCheckError) -> ClientAttestation {
        let held = try holder.key()
        let claims = try AttestationClaims(token.text, of: held.jwk, client: client)
        return ClientAttestation(
            text: token.text, clientID: claims.clientID, thumbprint: held.jwk.thumbprint, expires: token.expires,
            token: token, held: held)
    }

    private func restored() throws(AppCheckError) -> AppCheckToken? {
        guard let boot = options.clock.boot, let bytes = storage.load(name) else { return nil }
        guard let token = StoredToken.decode(bytes, boot: boot, at: options.clock.now), (try? attestation(token)) != nil
        else {
            storage.remove(name)
            return nil
        }
        return token
    }

    private func fetched(since start: Moment) async throws(AppCheckError) -> AppCheckToken {
        let held = try holder.key()
        guard let url = address.appending("/client-attestation") else {
            throw AppCheckError(.invalidConfiguration, "`endpoint` is too long for the path of an attestation.")
        }
        let request = ClientRequest(
            method: "POST", url: url.text,
            headers: [ClientHeader("Accept", "application/json"), ClientHeader("Content-Type", "application/json")],
            body: ProofText.object([], with: "jwk", held.jwk.json), timeLimit: options.requestLimit,
            responseLimit: ClientLimits.reply)
        // A server may want tokens of one use here; a session token is never needed.
        let calls = ProtectedCalls(appCheck: appCheck, transport: options.transport, token: .limitedUse)
        let response = try await calls.send(request)
        memory.note(response, from: url, at: options.clock.now)
        guard (200...299).contains(response.status) else { throw AppCheckError(attesting: response, for: appCheck.app) }
        guard let reply = JSONValue.read(response.body), let text = reply["client_attestation"]?.text,
            case .integer(let seconds)? = reply["expires_in"], seconds > 0
        else {
            throw AppCheckError(
                .malformedReply,
                "The attester's reply has no `client_attestation`, or no `expires_in` in seconds. Check that "
                    + "`endpoint` leads to an attester.", status: response.status)
        }
        let claims = try AttestationClaims(text, of: held.jwk, client: client)
        let said = Interval.seconds(seconds)
        let lifetime = min(said, claims.lifetime ?? said, AttestationClaims.longestKept)
        guard lifetime > .zero else { throw AppCheckError(.malformedReply, "The client attestation has no lifetime.") }
        let token = AppCheckToken(text: text, requested: start, expires: start + lifetime, isLimitedUse: false)
        if let boot = options.clock.boot { storage.save(StoredToken.encode(token, boot: boot), as: name) }
        return token
    }
}

extension AppCheckError {
    /// What an attester's response other than a success means.
    fileprivate init(attesting response: ClientResponse, for app: String) {
        let error = AppCheckError(response, of: "the client attestation", for: app)
        let own: (code: Code, words: String)? =
            switch response.status {
            case 400:
                (
                    Code.rejected,
                    "The attester cannot use the public key. It accepts P-256, unless its policy says otherwise."
                )
            case 401:
                (
                    Code.refused,
                    "The attester did not accept the App Check token. Its operator learns why by `assay decisions "
                        + "show` with the identifier of the decision."
                )
            case 404:
                (
                    Code.notConfigured,
                    "The server attests no OAuth clients. Check its policy for `oauth_client` with `attester`."
                )
            default: nil
            }
        let said = AppCheckError.said(in: JSONValue.read(response.body))
        self.init(
            own?.code ?? error.code, own.map { $0.words + said } ?? error.message, decision: error.decision,
            status: response.status, retryAfter: error.retryAfter)
    }
}
