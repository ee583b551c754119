public import AssayCore
internal import AssayVerifier

/// Authenticates clients by their attestations, for authorization servers and resource servers
/// (draft-ietf-oauth-attestation-based-client-auth-10, with DPoP by RFC 9449).
///
///     let verifier = ClientAttestationVerifier(rules: ClientAttestationRules(challenge: .required))
///     let client = try await verifier.verify(
///         presented, by: attesters, for: "https://login.example.com", challenges: challenges, now: now)
///     try await memory.remember(client.proofs)
///
/// It keeps no state: ``ProofMemory`` checks, as the last step, whether a proof was used before.
public struct ClientAttestationVerifier: Sendable {
    /// The rules that attestations and proofs are judged by.
    public let rules: ClientAttestationRules

    /// The most values of one header that are looked at; more than one is refused anyway.
    static let valueLimit = 8

    /// Makes a verifier that judges by rules.
    public init(rules: ClientAttestationRules) {
        self.rules = rules
    }

    /// Verifies an attestation and the proofs that its client holds the key.
    ///
    /// - `audience`: the issuer identifier of the authorization server, or the identifier of the resource server.
    /// - `challenges`: judges challenges; nil when there are none, so that every challenge is refused.
    /// - Throws: ``ClientRefusal`` when the client is not authenticated; `KeysUnavailable`, or what the store throws,
    ///   when that cannot be decided now.
    public func verify(
        _ presented: PresentedClient, by attesters: [TrustedAttester], for audience: String,
        challenges: AttestationChallenges? = nil, now: Instant
    ) async throws -> VerifiedClient {
        let presented = try withoutOlderShapes(presented)
        guard let text = presented.attestations.first else {
            throw ClientRefusal(OAuthClientReasons.attestationMissing)
        }
        guard presented.attestations.count == 1 else { throw ClientRefusal(OAuthClientReasons.attestationSeveral) }
        guard presented.possessionProofs.count <= 1 else { throw ClientRefusal(OAuthClientReasons.proof.several) }
        guard presented.dpopProofs.count <= 1 else {
            throw ClientRefusal(OAuthClientReasons.dpop.several)
        }
        let method: VerifiedClient.Method = presented.possessionProofs.isEmpty ? .combined : .possessionProof
        guard method == .possessionProof || !presented.dpopProofs.isEmpty else {
            throw ClientRefusal(OAuthClientReasons.proofMissing)
        }
        guard rules.methods.contains(method) else { throw ClientRefusal(OAuthClientReasons.proofMethod) }

        let attestation = try ClientAttestation(text, rules: rules, now: now)
        if let clientID = presented.clientID, !clientID.isExactly(attestation.clientID) {
            throw ClientRefusal(OAuthClientReasons.attestationClient)
        }
        if let bound = presented.boundThumbprint, !bound.isExactly(attestation.key.thumbprint) {
            throw ClientRefusal(OAuthClientReasons.attestationNotBound)
        }
        var proofs: [UsedProof] = []
        var answers: [(text: String?, use: ClientAttestationRules.ChallengeUse, code: ClientRefusal.Code)] = []
        if let proof = presented.possessionProofs.first {
            let verified = try PossessionProof.verify(
                proof, key: attestation.key, client: attestation.clientID, audience: audience, rules: rules.proofs,
                now: now)
            answers.append((verified.challenge, rules.challenge, .useAttestationChallenge))
            proofs.append(verified.used)
        }
        let dpop = try dpop(presented, method: method, attestation: attestation, now: now)
        if let dpop {
            answers.append(
                method == .combined
                    ? (dpop.nonce, rules.challenge, .useAttestationChallenge)
                    : (dpop.nonce, rules.dpopNonce, .useDPoPNonce))
            proofs.append(dpop.used)
        }
        let attester = try await attester(of: attestation, text, among: attesters)
        for (index, answer) in answers.enumerated() where answer.use != .off {
            try await judge(answer.text, answer.use, answer.code, challenges, audience, now)
            proofs[index].challenged = answer.text.flatMap(AttestationChallenges.time)
            // The client is told how to make one that is certain to be new.
            proofs[index].refusalBeforeState = ClientRefusal(proofs[index].refusalBeforeState.reason, answer.code)
        }
        return VerifiedClient(
            clientID: attestation.clientID, attester: attester.name, key: attestation.key,
            expires: attestation.expires, method: method, dpopThumbprint: dpop?.key.thumbprint, proofs: proofs)
    }

    private func dpop(
        _ presented: PresentedClient, method: VerifiedClient.Method, attestation: ClientAttestation, now: Instant
    ) throws(ClientRefusal) -> DPoPProof? {
        guard let text = presented.dpopProofs.first else {
            guard presented.tokenThumbprint.isNil else {
                throw ClientRefusal(OAuthClientReasons.dpopMissing)
            }
            return nil
        }
        let proof = try DPoPProof.verify(
            text, method: presented.method, target: presented.target, accessToken: presented.accessToken,
            rules: rules.proofs, now: now)
        switch method {
        case .combined:
            guard presented.dpopThumbprint.isNil else {
                throw ClientRefusal(OAuthClientReasons.dpopThumbprintCombined)
            }
            guard proof.key == attestation.key else {
                throw ClientRefusal(OAuthClientReasons.dpopNotAttested)
            }
        case .possessionProof:
            guard presented.dpopThumbprint.map({ $0.isExactly(proof.key.thumbprint) }) ?? true else {
                throw ClientRefusal(OAuthClientReasons.dpopNotBound)
            }
        }
        guard presented.tokenThumbprint.map({ $0.isExactly(proof.key.thumbprint) }) ?? true else {
            throw ClientRefusal(OAuthClientReasons.dpopNotBound)
        }
        return proof
    }

    /// Finds whose attestation it is, by its signature.
    private func attester(
        of attestation: ClientAttestation, _ text: String, among attesters: [TrustedAttester]
    ) async throws -> TrustedAttester {
        var refusal = ClientRefusal(OAuthClientReasons.attestationAttester)
        var blockingReason: KeysUnavailable?
        for attester in attesters where attester.mayHaveIssued(attestation) {
            do {
                try await attester.verify(text)
            } catch let error as KeysUnavailable {
                blockingReason = error
                continue
            } catch let fault as JWTFault {
                if fault == .signature { refusal = ClientRefusal(OAuthClientReasons.attestationSignature) }
                continue
            }
            guard attester.clients.map({ $0.contains(attestation.clientID) }) ?? true else {
                refusal = ClientRefusal(OAuthClientReasons.attestationClientUnknown, detail: attester.name)
                continue
            }
            return attester
        }
        if let blockingReason { throw blockingReason }
        throw refusal
    }

    private func judge(
        _ text: String?, _ use: ClientAttestationRules.ChallengeUse, _ code: ClientRefusal.Code,
        _ challenges: AttestationChallenges?, _ audience: String, _ now: Instant
    ) async throws {
        guard let text else {
            if use == .required { throw ClientRefusal(OAuthClientReasons.challengeMissing, code) }
            return
        }
        switch try await challenges?.judge(text, for: audience, now: now) {
        case .good?: return
        case .expired?: throw ClientRefusal(OAuthClientReasons.challengeExpired, code)
        case .unknown?, nil: throw ClientRefusal(OAuthClientReasons.challengeUnknown, code)
        }
    }

    /// Up to the seventh draft, an attestation and its proof could be in one header with a tilde between them.
    private func withoutOlderShapes(_ presented: PresentedClient) throws(ClientRefusal) -> PresentedClient {
        guard rules.proofs.acceptsOlderDrafts, presented.attestations.count == 1,
            let text = presented.attestations.first
        else { return presented }
        let parts = text.split(onASCII: "~", maxSplits: 2)
        guard parts.count > 1 else { return presented }
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
            throw ClientRefusal(
                OAuthClientReasons.attestationMalformed, detail: "more than one tilde, or an empty part next to it")
        }
        var presented = presented
        presented.attestations = [String(parts[0])]
        presented.possessionProofs.append(String(parts[1]))
        return presented
    }
}
