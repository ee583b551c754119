import AssayClient
import AssayClientHTTP
import AssayCore
import AssayCrypto
import Foundation
import Synchronization
import Testing

/// An attester, an authorization server and a resource server in one transport.
///
/// They verify proofs by `AssayCrypto`, which the client does not use, and demand what a test sets.
final class OAuthWorld: ClientTransport {
    typealias Answer = @Sendable (ClientRequest) async throws -> ClientResponse

    static let attester = "https://assay.example.com"
    static let issuer = "https://login.example.com"
    static let token = "https://login.example.com/token"
    static let orders = "https://api.example.com/orders"
    static let client = "example-ios"

    struct Demands: Sendable {
        var challenge: String?
        var nonce: String?
        var orderNonce: String?
        /// The largest age of an attestation, in seconds.
        var age: Int64?
        /// Whether replies have a `Date`.
        var hasDate = true
        var combined = false
        /// The claims of attestations that differ.
        var claims: JSON = [:]
        /// The reply's members that differ.
        var reply: JSON = [:]
    }

    private struct State {
        var demands = Demands()
        var requests: [ClientRequest] = []
        var refusals: [String] = []
        var used: [String] = []
        var answers: [(part: String, answer: Answer)] = []
        var tokens = 0
    }

    let clock: FakeClock
    let attesterKey: PrivateKey
    private let state = Mutex(State())

    init(clock: FakeClock = FakeClock()) throws {
        self.clock = clock
        attesterKey = try .generate(.ec(.p256))
    }

    /// The servers' time, which the device's clock differs from by a century.
    var now: Int64 { 1_795_262_400 + clock.now.uptime.wholeSeconds }
    var requests: [ClientRequest] { state.withLock { $0.requests } }
    /// Why requests were refused, in order.
    var refusals: [String] { state.withLock { $0.refusals } }
    var demands: Demands { state.withLock { $0.demands } }

    func demand(_ change: @Sendable (inout Demands) -> Void) { state.withLock { change(&$0.demands) } }
    func count(_ part: String) -> Int { requests.count { $0.url.contains(part) } }
    /// Queues an answer for one request whose URL has this in it.
    func next(_ part: String, _ answer: @escaping Answer) { state.withLock { $0.answers.append((part, answer)) } }

    func send(_ request: ClientRequest) async throws -> ClientResponse {
        let queued = state.withLock { state -> Answer? in
            state.requests.append(request)
            guard let index = state.answers.firstIndex(where: { request.url.contains($0.part) }) else { return nil }
            return state.answers.remove(at: index).answer
        }
        if let queued { return try await queued(request) }
        var response = try answer(request)
        if demands.hasDate { response.headers.append(ClientHeader("Date", date(now))) }
        return response
    }

    func date(_ seconds: Int64) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: Date(timeIntervalSince1970: Double(seconds)))
    }

    private func answer(_ request: ClientRequest) throws -> ClientResponse {
        if request.url.hasSuffix(":exchangeDebugToken") {
            return .token(
                state.withLock { state in
                    state.tokens += 1
                    return FakeToken.text(number: state.tokens)
                })
        }
        switch request.url.split(separator: "?").first.map(String.init) {
        case "\(Self.attester)/client-attestation"?: return try attest(request)
        case "\(Self.issuer)/challenge"?:
            return .json(200, ["attestation_challenge": .string(demands.challenge ?? "unasked")])
        case Self.token?: return try authorize(request)
        case Self.orders?: return try serve(request)
        default: return ClientResponse(status: 404)
        }
    }

    // MARK: The servers

    private func attest(_ request: ClientRequest) throws -> ClientResponse {
        let jwk = try #require(try JSON.parse(request.body)["jwk"])
        #expect(request.headers.contains { $0.name == "X-Firebase-AppCheck" && $0.value.contains(".") })
        let attestation = try sign(
            ["typ": "oauth-client-attestation+jwt", "alg": "ES256"],
            Self.merge(
                [
                    "sub": .string(Self.client), "iat": .integer(now), "exp": .integer(now + 86_400),
                    "cnf": ["jwk": jwk],
                ], demands.claims))
        return .json(
            200, Self.merge(["client_attestation": .string(attestation), "expires_in": 86_400], demands.reply))
    }

    private func authorize(_ request: ClientRequest) throws -> ClientResponse {
        let demands = demands
        do {
            let client = try Presented.attested(request, by: attesterKey.publicKey)
            if let age = demands.age, now - client.issued > age { throw Refusal("use_fresh_attestation") }
            guard demands.combined || !client.proofs.isEmpty || !client.dpop.isEmpty else { throw Refusal("no proof") }
            for proof in client.proofs {
                try check(proof, [("aud", .string(Self.issuer))])
                if let challenge = demands.challenge, proof["challenge"]?.string != challenge {
                    throw Refusal("use_attestation_challenge")
                }
            }
            for proof in client.dpop {
                try check(proof, [("htm", .string(request.method)), ("htu", .string(Self.token)), ("ath", .null)])
                if demands.combined, let challenge = demands.challenge, proof["nonce"]?.string != challenge {
                    throw Refusal("use_attestation_challenge")
                }
                if let nonce = demands.nonce, proof["nonce"]?.string != nonce { throw Refusal("use_dpop_nonce") }
            }
            return .json(200, ["access_token": "at-1", "token_type": "DPoP"])
        } catch let refusal as Refusal {
            return refused(refusal, 400, nonce: demands.nonce)
        }
    }

    private func serve(_ request: ClientRequest) throws -> ClientResponse {
        do {
            let proofs = try Presented.dpop(request, key: nil)
            let token = try #require(request.headers.first { $0.name == "Authorization" }?.value.split(separator: " "))
            guard proofs.count == 1, token.count == 2, token[0] == "DPoP" else { throw Refusal("no proof") }
            let ath = Base64.encodeURL(SHA256.hash(Array(token[1].utf8)))
            try check(
                proofs[0], [("htm", .string(request.method)), ("htu", .string(Self.orders)), ("ath", .string(ath))])
            if let nonce = demands.orderNonce, proofs[0]["nonce"]?.string != nonce { throw Refusal("use_dpop_nonce") }
            return ClientResponse(status: 200)
        } catch let refusal as Refusal {
            var response = refused(refusal, 401, nonce: demands.orderNonce)
            response.body = []
            response.headers.append(ClientHeader("WWW-Authenticate", "DPoP error=\"\(refusal.code)\", algs=\"ES256\""))
            return response
        }
    }

    private func refused(_ refusal: Refusal, _ status: Int, nonce: String?) -> ClientResponse {
        state.withLock { $0.refusals.append(refusal.code) }
        var headers: [ClientHeader] = []
        if refusal.code == "use_dpop_nonce", let nonce { headers.append(ClientHeader("dpop-nonce", nonce)) }
        if refusal.code == "use_attestation_challenge", let challenge = demands.challenge {
            headers.append(ClientHeader("OAuth-Client-Attestation-Challenge", challenge))
        }
        return .json(status, ["error": .string(refusal.code)], headers)
    }

    /// What both kinds of proofs must meet.
    private func check(_ proof: JSON, _ expected: [(String, JSON)]) throws {
        for (name, value) in expected where (proof[name] ?? .null) != value { throw Refusal("invalid \(name)") }
        guard case .integer(let issued)? = proof["iat"], (-300...30).contains(issued - now) else {
            throw Refusal("invalid_client")
        }
        let id = try #require(proof["jti"]?.string)
        let isNew = state.withLock { state in
            defer { state.used.append(id) }
            return !state.used.contains(id)
        }
        #expect(isNew, "a proof was used twice")
    }

    func sign(_ header: JSON, _ claims: JSON) throws -> String {
        let input = Base64.encodeURL(header.encoded) + "." + Base64.encodeURL(claims.encoded)
        return input + "." + Base64.encodeURL(try attesterKey.sign(Array(input.utf8), as: .raw))
    }

    private static func merge(_ base: JSON, _ changes: JSON) -> JSON {
        var members = base.members ?? []
        for change in changes.members ?? [] {
            members.removeAll { $0.name == change.name }
            if change.value != .null { members.append(change) }
        }
        return .object(members)
    }
}

struct Refusal: Error {
    let code: String

    init(_ code: String) {
        self.code = code
    }
}

/// What a request presents of a client, with all signatures verified.
struct Presented {
    let issued: Int64
    let proofs: [JSON]
    let dpop: [JSON]

    static func attested(_ request: ClientRequest, by attester: PublicKey) throws -> Presented {
        let attestations = values("OAuth-Client-Attestation", request)
        guard attestations.count == 1 else { throw Refusal("not one attestation") }
        let attestation = try claims(attestations[0], "oauth-client-attestation+jwt", attester)
        let key = try JWK(try #require(attestation["cnf"]?["jwk"])).publicKey
        let proofs = values("OAuth-Client-Attestation-PoP", request)
        guard proofs.count <= 1 else { throw Refusal("several proofs") }
        return Presented(
            issued: attestation["iat"]?.integer ?? 0,
            proofs: try proofs.map { try claims($0, "oauth-client-attestation-pop+jwt", key) },
            dpop: try dpop(request, key: key))
    }

    static func dpop(_ request: ClientRequest, key: PublicKey?) throws -> [JSON] {
        let texts = values("DPoP", request)
        guard texts.count <= 1 else { throw Refusal("several DPoP proofs") }
        return try texts.map { text in
            let header = try JSON.parse(try #require(Base64.decodeURL(utf8: Array(text.utf8).prefix { $0 != 0x2E })))
            let jwk = try JWK(try #require(header["jwk"]))
            #expect(header["jwk"]?["d"] == nil)
            if let key { #expect(JWK(key).thumbprint == jwk.thumbprint) }
            return try claims(text, "dpop+jwt", jwk.publicKey)
        }
    }

    private static func claims(_ text: String, _ type: String, _ key: PublicKey) throws -> JSON {
        let jws = try CompactJWS.parse(utf8: Array(text.utf8)[...])
        #expect(jws.header.type == type)
        try jws.verify(with: key)
        return try JSON.parse(jws.payload)
    }

    private static func values(_ name: String, _ request: ClientRequest) -> [String] {
        request.headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}

/// An app with its OAuth client in that world.
struct OAuthScene {
    let world: OAuthWorld
    let storage: any ClientStorage
    let notices = Notices()
    let attestations: ClientAttestations
    let client: OAuthClient

    init(
        _ world: OAuthWorld? = nil, storage: any ClientStorage = MemoryStorage(), client: String? = nil,
        keys: any InstanceKeys = OpenSSLKeys(), proofs: AuthorizationServer.Proofs = .possessionAndDPoP,
        challengeEndpoint: String? = nil
    ) throws {
        self.world = try world ?? OAuthWorld()
        self.storage = storage
        var options = AppCheckOptions(transport: self.world, storage: storage)
        options.clock = self.world.clock
        options.environment = { _ in nil }
        options.notice = { [notices] in notices.add($0) }
        let appCheck = try AppCheck(
            app: FakeToken.app, endpoint: OAuthWorld.attester, provider: DebugProvider(debugToken: "a-debug-token"),
            options: options)
        attestations = try ClientAttestations(
            appCheck: appCheck, endpoint: OAuthWorld.attester, client: client, keys: keys, options: options)
        self.client = OAuthClient(
            server: try AuthorizationServer(
                issuer: OAuthWorld.issuer, challengeEndpoint: challengeEndpoint, proofs: proofs),
            attestations: attestations)
    }

    func attestation() async throws -> ClientAttestation {
        try await attestations.clientAttestation(for: OAuthWorld.issuer)
    }

    /// The status of a request for a token.
    func request(_ headers: [ClientHeader] = []) async throws -> Int {
        try await client.send(ClientRequest(method: "POST", url: OAuthWorld.token, headers: headers)).status
    }

    /// The status of a request for orders.
    func orders(_ token: String = "at-1") async throws -> Int {
        try await client.send(ClientRequest(url: "\(OAuthWorld.orders)?page=2"), accessToken: token).status
    }
}
