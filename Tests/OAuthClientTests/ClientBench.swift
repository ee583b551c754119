import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayOAuthClient
import AssayTesting
import AssayVerifier
import Testing

/// An attester, a client with its key, and an authorization server that judges what the client shows.
struct ClientBench {
    static let server = "https://login.example.com"
    static let clientID = "1234567890-abc.apps.example.com"
    static let endpoint = "https://login.example.com/token"

    let clock = ManualClock()
    let store: MemoryStore
    let attesterKey: PrivateKey
    let clientKey: PrivateKey

    init() throws {
        store = MemoryStore(clock: clock.hostClock)
        attesterKey = try .generate(.ec(.p256))
        clientKey = try .generate(.ec(.p256))
    }

    var now: Int64 { clock.now.seconds }
    var client: ClientKey { ClientKey(clientKey.publicKey) }
    /// Since when the state is complete.
    var beginning = Instant(milliseconds: .min)
    var state: StateSpace { StateSpace("test", in: store, since: beginning) }
    var challenges: AttestationChallenges {
        AttestationChallenges(lifetime: .seconds(300), state: state.subspace("keys"), randomness: .system)
    }

    /// Claims or a header with some set anew, and those taken away that are null.
    static func merge(_ base: JSON, _ changes: JSON) -> JSON {
        var members = base.members ?? []
        for change in changes.members ?? [] {
            members.removeAll { $0.name == change.name }
            if change.value != .null { members.append(change) }
        }
        return .object(members)
    }

    static func sign(_ header: JSON, _ claims: JSON, by key: PrivateKey) throws -> String {
        let input = Base64.encodeURL(header.encoded) + "." + Base64.encodeURL(claims.encoded)
        return input + "." + Base64.encodeURL(try key.sign(Array(input.utf8), as: .raw))
    }

    /// What an attester makes.
    func attestation(_ claims: JSON = [:], header: JSON = [:], by key: PrivateKey? = nil) throws -> String {
        try ClientBench.sign(
            ClientBench.merge(["typ": "oauth-client-attestation+jwt", "alg": "ES256", "kid": "attester"], header),
            ClientBench.merge(
                [
                    "sub": .string(ClientBench.clientID), "iat": .integer(now), "exp": .integer(now + 3600),
                    "cnf": client.confirmation,
                ], claims), by: key ?? attesterKey)
    }

    /// What a client makes to prove that it holds the key.
    func proof(_ claims: JSON = [:], header: JSON = [:], by key: PrivateKey? = nil) throws -> String {
        try ClientBench.sign(
            ClientBench.merge(["typ": "oauth-client-attestation-pop+jwt", "alg": "ES256"], header),
            ClientBench.merge(
                ["aud": .string(ClientBench.server), "jti": .string(fresh()), "iat": .integer(now)], claims),
            by: key ?? clientKey)
    }

    /// A DPoP proof.
    func dpop(_ claims: JSON = [:], header: JSON = [:], by key: PrivateKey? = nil) throws -> String {
        let key = key ?? clientKey
        return try ClientBench.sign(
            ClientBench.merge(["typ": "dpop+jwt", "alg": "ES256", "jwk": ClientKey(key.publicKey).jwk], header),
            ClientBench.merge(
                [
                    "htm": "POST", "htu": .string(ClientBench.endpoint), "jti": .string(fresh()),
                    "iat": .integer(now),
                ], claims), by: key)
    }

    func fresh() -> String { Base64.encodeURL(Randomness.system.bytes(12)) }

    func presented(
        _ attestations: [String], proofs: [String] = [], dpop: [String] = [], method: String = "POST",
        uri: String = ClientBench.endpoint
    ) throws -> PresentedClient {
        PresentedClient(
            attestations: attestations, possessionProofs: proofs, dpopProofs: dpop, method: method,
            target: try #require(TargetURI(ofRequest: uri)))
    }

    var attester: TrustedAttester {
        TrustedAttester(
            name: "attester", issuer: "https://attester.example.com", clients: nil,
            keys: .fixed([JWK(signing: attesterKey.publicKey, keyID: "attester")]))
    }

    /// What a server finds, which remembers proofs.
    func verify(
        _ presented: PresentedClient, rules: ClientAttestationRules = ClientAttestationRules(),
        by attesters: [TrustedAttester]? = nil, for audience: String = ClientBench.server
    ) async throws -> VerifiedClient {
        let client = try await ClientAttestationVerifier(rules: rules).verify(
            presented, by: attesters ?? [attester], for: audience, challenges: challenges, now: clock.now)
        try await ProofMemory(state.subspace("proofs")).remember(client.proofs)
        return client
    }

    /// Why a server refuses; nil when it does not.
    func refusal(
        _ presented: PresentedClient, rules: ClientAttestationRules = ClientAttestationRules(),
        by attesters: [TrustedAttester]? = nil, for audience: String = ClientBench.server
    ) async throws -> ClientRefusal? {
        do {
            _ = try await verify(presented, rules: rules, by: attesters, for: audience)
            return nil
        } catch let refusal as ClientRefusal {
            return refusal
        }
    }
}
