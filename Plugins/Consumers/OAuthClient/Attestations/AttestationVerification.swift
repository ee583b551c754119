public import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayVerifier

/// The part `verifier`, ready for use.
struct AttestationVerification: Sendable {
    let verifier: ClientAttestationVerifier
    let challengeLifetime: Duration
    /// The identifiers of resource servers.
    let resourceServers: [String]
    private let trustsOwn: Bool
    private let attesters: [TrustedAttester]

    init(_ configuration: AttestationVerifierConfiguration, host: PluginHost, problems: inout ConfigurationProblems) {
        let path: [ConfigurationError.Component] = ["verifier"]
        typealias Configuration = AttestationVerifierConfiguration
        problems.check(configuration.window, in: Configuration.windows, at: path + ["window"])
        problems.check(configuration.clockSkew, in: Configuration.skews, at: path + ["clock_skew"])
        problems.check(configuration.challengeLifetime, in: Configuration.challengeLives, at: path + ["challenge_life"])
        if let age = configuration.maximumAge, age <= .zero {
            problems.report(at: path + ["max_age"], "expected a duration above zero")
        }
        if let servers = configuration.resourceServers {
            problems.check(audiences: servers, at: path + ["resource_servers"])
        }
        problems.checkNotEmpty(configuration.algorithms, at: path + ["algorithms"])
        problems.checkNotEmpty(configuration.proofAlgorithms, at: path + ["proof_algorithms"])
        problems.checkNotEmpty(configuration.methods, at: path + ["methods"])
        let proofs = ProofRules(
            algorithms: SignatureAlgorithm.algorithms(configuration.proofAlgorithms),
            window: configuration.window ?? .seconds(300), skew: configuration.clockSkew ?? .seconds(30),
            acceptsOlderDrafts: configuration.compatibility ?? false)
        let rules = ClientAttestationRules(
            algorithms: SignatureAlgorithm.algorithms(configuration.algorithms),
            maximumAge: configuration.maximumAge, proofs: proofs,
            methods: Set(configuration.methods ?? VerifiedClient.Method.allCases),
            challenge: configuration.challenge ?? .optional, dpopNonce: configuration.dpopNonce ?? .optional)
        verifier = ClientAttestationVerifier(rules: rules)
        challengeLifetime = configuration.challengeLifetime ?? .seconds(300)
        resourceServers = (configuration.resourceServers ?? []).map(\.text)
        trustsOwn = configuration.own ?? true
        var attesters: [TrustedAttester] = []
        let limit = AttestationVerifierConfiguration.attesterLimit
        if configuration.attesters?.count ?? 0 > limit {
            problems.report(at: path + ["attesters"], "at most \(limit) attesters may be named")
        }
        for (index, section) in (configuration.attesters ?? []).prefix(limit).enumerated() {
            let place = path + ["attesters", .index(index)]
            problems.check(section.issuer, upTo: 2048, at: place + ["issuer"])
            problems.checkNotEmpty(section.clients, at: place + ["clients"])
            let keys = problems.attempt { () throws(ConfigurationError) in
                try IssuerKeys.configured(section.jwks, at: place + ["jwks"], host: host)
            }
            guard let keys else { continue }
            attesters.append(
                TrustedAttester(
                    name: section.issuer ?? section.jwks, issuer: section.issuer,
                    clients: section.clients.map { Set(exactly: $0) }, keys: keys))
        }
        self.attesters = attesters
        if !trustsOwn, configuration.attesters?.isEmpty ?? true {
            problems.report(at: path, "expected `own` or `attesters`: otherwise no attestation is accepted")
        }
    }

    /// Whose attestations are trusted.
    ///
    /// - Parameter signed: whether this project's attester signed a JWT.
    func attesters(
        of project: ProjectIdentity, clients: Set<ExactText>, signed: @escaping @Sendable (String) -> Bool
    ) -> [TrustedAttester] {
        let own = TrustedAttester(own: project, clients: clients, verify: signed)
        return (trustsOwn ? [own] : []) + attesters
    }
}

/// A client instance that is authenticated: whose it is, and which key it holds.
public struct VerifiedClient: Sendable, Hashable {
    /// How a client proves that it holds the key of its attestation, by the names of the draft's metadata.
    public enum Method: String, Decodable, Sendable, Hashable, CaseIterable {
        /// By a JWT of its own.
        case possessionProof = "attestation_pop_jwt"
        /// By a DPoP proof that does for both.
        case combined = "dpop_combined"

        /// The authentication method at a token endpoint (`token_endpoint_auth_methods_supported`).
        public var authenticationMethod: String {
            switch self {
            case .possessionProof: "attest_jwt_client_auth"
            case .combined: "attest_jwt_client_auth_dpop"
            }
        }
    }

    /// `sub` of the attestation.
    @Exact public private(set) var clientID: String
    /// The attester, by the policy's name.
    @Exact public private(set) var attester: String
    /// The client instance's key.
    public let key: ClientKey
    /// When the attestation expires.
    public let expires: Instant
    /// How the client proved that it holds the key.
    public let method: Method
    /// The thumbprint of the DPoP proof's key, to which access tokens are bound; nil without such a proof.
    @Exact public private(set) var dpopThumbprint: String?
    /// The proofs that were used, to be remembered.
    public let proofs: [UsedProof]
}
