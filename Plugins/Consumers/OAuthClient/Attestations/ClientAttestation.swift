public import AssayCore
public import AssayCrypto
internal import AssayVerifier

/// The claims of a client attestation, whose signature is verified elsewhere.
public struct ClientAttestation: Sendable, Hashable {
    /// `typ` of the header.
    public static let type = "oauth-client-attestation+jwt"
    /// The claim by which a project of this service knows its own attestations: `projects/NUMBER`.
    static let projectClaim = "project"
    /// The longest client identifier, in bytes.
    static let clientLimit = 1024

    /// `sub`.
    @Exact public private(set) var clientID: String
    /// `cnf.jwk`.
    public let key: ClientKey
    /// `exp`: when the attestation expires.
    public let expires: Instant
    /// `iat`: when the attestation was issued; nil when it does not say.
    public let issued: Instant?
    /// `iss`, which attestations had before the eighth draft.
    @Exact public private(set) var issuer: String?
    /// The project that issued it, when that was one of this service.
    @Exact public private(set) var project: String?
    /// How it is signed.
    public let algorithm: JWSAlgorithm

    /// Judges what an attestation says (draft-ietf-oauth-attestation-based-client-auth-10, verification).
    ///
    /// - Throws: ``ClientRefusal``.
    public init(_ text: String, rules: ClientAttestationRules, now: Instant) throws(ClientRefusal) {
        let jwt: SignedJWT
        do throws(SignedJWT.Defect) {
            jwt = try SignedJWT(text)
        } catch {
            switch error {
            case .malformed(let detail):
                throw ClientRefusal(OAuthClientReasons.attestationMalformed, detail: detail)
            case .algorithm: throw ClientRefusal(OAuthClientReasons.attestationAlgorithm)
            }
        }
        let isTyped = jwt.type.isExactly(ClientAttestation.type)
        let isOlder = rules.proofs.acceptsOlderDrafts && (jwt.type ?? "jwt").isExactly("jwt")
        guard isTyped || isOlder else { throw ClientRefusal(OAuthClientReasons.attestationType) }
        guard rules.algorithms.contains(jwt.algorithm) else {
            throw ClientRefusal(OAuthClientReasons.attestationAlgorithm)
        }
        let claims = jwt.claims
        guard let subject = claims.subject, (1...ClientAttestation.clientLimit).contains(subject.utf8.count) else {
            throw ClientRefusal(OAuthClientReasons.attestationClaim, detail: "sub")
        }
        guard let expires = claims.expires else {
            throw ClientRefusal(OAuthClientReasons.attestationClaim, detail: "exp")
        }
        guard let jwk = claims.json["cnf"]?["jwk"] else {
            throw ClientRefusal(OAuthClientReasons.attestationClaim, detail: "cnf.jwk")
        }
        do throws(ClientKey.Problem) {
            key = try ClientKey(jwk: jwk, algorithms: rules.proofs.algorithms)
        } catch {
            throw ClientRefusal(OAuthClientReasons.attestationKey, detail: error.message)
        }
        guard now < expires else {
            throw ClientRefusal(OAuthClientReasons.attestationExpired)
        }
        for start in [claims.issued, claims.notBefore].compactMap(\.self) where start > now + rules.proofs.skew {
            throw ClientRefusal(OAuthClientReasons.attestationNotYetValid)
        }
        if let age = rules.maximumAge {
            guard let issued = claims.issued else {
                throw ClientRefusal(OAuthClientReasons.attestationClaim, detail: "iat, which the policy needs")
            }
            guard now - issued <= age else {
                throw ClientRefusal(OAuthClientReasons.attestationTooOld)
            }
        }
        clientID = subject
        self.expires = expires
        issued = claims.issued
        issuer = claims.issuer
        project = claims.json[ClientAttestation.projectClaim]?.string
        algorithm = jwt.algorithm
    }
}
