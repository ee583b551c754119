/// Sends an OAuth client's requests with proofs that its instance is genuine and holds its key.
///
///     let server = try AuthorizationServer(issuer: "https://login.example.com")
///     let client = OAuthClient(server: server, attestations: attestations)
///     let response = try await client.send(tokenRequest)
///
/// - Each request has proofs of its own.
/// - Where a server wants a nonce, a challenge or a fresh attestation, or the device's clock is wrong, the request is
///   sent once more for each of these reasons. What servers give is remembered by their origin.
/// - Redirects are not followed: a proof is for one URL.
public final class OAuthClient: Sendable {
    /// The authorization server.
    public let server: AuthorizationServer
    private let attestations: ClientAttestations

    /// Makes a client; sends nothing.
    public init(server: AuthorizationServer, attestations: ClientAttestations) {
        self.server = server
        self.attestations = attestations
    }

    /// Sends a request to the authorization server, authenticated by the client attestation, and returns the response,
    /// whatever its status.
    ///
    /// The parameters, such as `grant_type` and `client_id`, are the caller's.
    ///
    /// - Throws: `insecure` for a URL that is not one of the server's, `unreachable`, or the reason why there is no
    ///   attestation.
    public nonisolated(nonsending) func send(_ request: ClientRequest) async throws(AppCheckError) -> ClientResponse {
        guard let address = ServerAddress(request.url), server.has(address) else {
            throw AppCheckError(
                .insecure,
                "The URL is none of the authorization server \(server.issuer): proofs for it go to nobody else. "
                    + "Name the endpoint in `endpoints` if it is one.")
        }
        var attestation = try await attestations.clientAttestation(for: server.issuer)
        var met: Set<ServerDemand> = []
        while true {
            let answers = try await answers(for: address)
            let response = try await deliver(
                request, try headers(request.method, address, attestation, answers), to: address)
            guard let demand = ServerDemand(response), met.insert(demand).inserted else { return response }
            if demand == .freshAttestation {
                let fresh = try await attestations.clientAttestation(for: server.issuer, after: attestation)
                guard let fresh else { return response }
                attestation = fresh
            } else {
                guard canMeet(demand, answers, at: address) else { return response }
            }
        }
    }

    /// Sends a request to a resource server with an access token that is bound to the key (`DPoP`), and returns the
    /// response, whatever its status.
    ///
    /// - Throws: `insecure` when the request would expose the token, `unreachable`, `deviceFailed`.
    public nonisolated(nonsending) func send(
        _ request: ClientRequest, accessToken: String
    ) async throws(AppCheckError) -> ClientResponse {
        guard let address = ServerAddress(request.url), !request.url.utf8.hasRun(accessToken.utf8) else {
            throw AppCheckError(
                .insecure,
                "An access token is sent to https, or to localhost, 127.0.0.1 and [::1], and never in a URL.")
        }
        guard TokenClaims.isToken(accessToken) else {
            throw AppCheckError(
                .invalidConfiguration, "The access token has spaces or line breaks, or is empty or too long.")
        }
        let held = try attestations.key(for: server.issuer)
        var met: Set<ServerDemand> = []
        while true {
            let answers = Answers(nonce: memory.entry(of: address)?.nonce, challenge: nil, time: time(at: address))
            let proof = try ProofText.dpop(
                method: request.method, url: address, accessToken: accessToken, nonce: answers.nonce,
                at: answers.time, by: held)
            let headers = [ClientHeader("Authorization", "DPoP \(accessToken)"), ClientHeader("DPoP", proof)]
            let response = try await deliver(request, headers, to: address)
            guard let demand = ServerDemand(response), met.insert(demand).inserted,
                canMeet(demand, answers, at: address)
            else { return response }
        }
    }
}

extension OAuthClient {
    /// What the proofs of a request answer.
    private struct Answers: Sendable {
        let nonce: String?
        let challenge: String?
        /// In seconds since 1970.
        let time: Int64
    }

    /// A clock that is wrong by less does no harm: servers accept proofs that are minutes old.
    private static let clockTolerance: UInt64 = 10
    /// What a caller's request does not bring along itself.
    private static let proofFields = ["OAuth-Client-Attestation", "OAuth-Client-Attestation-PoP", "DPoP"]

    private var memory: ServerMemory { attestations.memory }
    private var options: AppCheckOptions { attestations.options }

    /// The time by the server's clock if it answered before, otherwise by the attester's, otherwise by the device's.
    private func time(at address: ServerAddress) -> Int64 {
        memory.unixSeconds(at: address, now: options.clock.now) ?? attestations.attesterTime
            ?? options.clock.unixMilliseconds / 1000
    }

    private nonisolated(nonsending) func answers(for address: ServerAddress) async throws(AppCheckError) -> Answers {
        let challenge: String?
        if let known = memory.entry(of: address)?.challenge {
            challenge = known
        } else if let endpoint = server.challengeEndpoint.flatMap({ ServerAddress($0) }) {
            let fetched = try await fetchChallenge(endpoint)
            memory.setChallenge(fetched, for: address)
            challenge = fetched
        } else {
            challenge = nil
        }
        return Answers(nonce: memory.entry(of: address)?.nonce, challenge: challenge, time: time(at: address))
    }

    private nonisolated(nonsending) func fetchChallenge(_ endpoint: ServerAddress) async throws(AppCheckError) -> String
    {
        let response = try await options.transport.deliver(
            ClientRequest(
                method: "POST", url: endpoint.text, headers: [ClientHeader("Accept", "application/json")],
                timeLimit: options.requestLimit, responseLimit: ClientLimits.reply))
        memory.note(response, from: endpoint, at: options.clock.now)
        guard (200...299).contains(response.status) else {
            throw AppCheckError(response, of: "the challenge", for: server.issuer)
        }
        guard let challenge = JSONValue.read(response.body)?["attestation_challenge"]?.text,
            ServerMemory.isNonce(challenge)
        else {
            throw AppCheckError(
                .malformedReply,
                "The reply of the challenge endpoint has no `attestation_challenge` of at most 1024 characters.",
                status: response.status)
        }
        return challenge
    }

    private func headers(
        _ method: String, _ address: ServerAddress, _ attestation: ClientAttestation, _ answers: Answers
    ) throws(AppCheckError) -> [ClientHeader] {
        var headers = [ClientHeader("OAuth-Client-Attestation", attestation.text)]
        if server.proofs != .combined {
            let proof = try ProofText.possession(
                audience: server.issuer, challenge: answers.challenge, at: answers.time, by: attestation.held.key)
            headers.append(ClientHeader("OAuth-Client-Attestation-PoP", proof))
        }
        if server.proofs != .possession {
            let nonce = server.proofs == .combined ? answers.challenge ?? answers.nonce : answers.nonce
            let proof = try ProofText.dpop(
                method: method, url: address, accessToken: nil, nonce: nonce, at: answers.time, by: attestation.held)
            headers.append(ClientHeader("DPoP", proof))
        }
        return headers
    }

    private nonisolated(nonsending) func deliver(
        _ request: ClientRequest, _ headers: [ClientHeader], to address: ServerAddress
    ) async throws(AppCheckError) -> ClientResponse {
        var request = request
        let replaced = headers.map(\.name) + Self.proofFields
        request.headers.removeAll { field in
            replaced.contains { $0.loweredASCII.sameBytes(as: field.name.loweredASCII) }
        }
        request.headers += headers
        let response = try await options.transport.deliver(request)
        memory.note(response, from: address, at: options.clock.now)
        return response
    }

    /// Whether the next request can be another one than the last: with another answer, or another time.
    private func canMeet(_ demand: ServerDemand, _ last: Answers, at address: ServerAddress) -> Bool {
        let known = memory.entry(of: address)
        func isNew(_ text: String?, _ used: String?) -> Bool {
            guard let text else { return false }
            return used.map { !$0.sameBytes(as: text) } ?? true
        }
        switch demand {
        case .nonce:
            // A proof that does for both has the challenge in its nonce.
            if server.proofs == .combined, isNew(known?.nonce, last.challenge ?? last.nonce) {
                memory.setChallenge(known?.nonce, for: address)
                return true
            }
            return isNew(known?.nonce, last.nonce)
        case .challenge:
            if isNew(known?.challenge, last.challenge) { return true }
            memory.setChallenge(nil, for: address)
            return server.challengeEndpoint.map { _ in true } ?? false
        case .freshAttestation: return false
        case .time:
            guard let time = memory.unixSeconds(at: address, now: options.clock.now) else { return false }
            let (difference, overflow) = time.subtractingReportingOverflow(last.time)
            return overflow || difference.magnitude > Self.clockTolerance
        }
    }
}
