internal import AssayCore
internal import AssayKit

/// What authorization servers and resource servers ask.
extension OAuthClientConsumer {
    /// `POST /client-attestation/verify`.
    ///
    /// If a client is not authenticated, the call fails with an OAuth error and headers that the server can forward
    /// unchanged.
    func verify(_ request: VerifyClientRequest, _ context: ConsumerContext) async throws -> ConsumerVerdict {
        let (verification, audience) = try verification(for: request.audience)
        let isResourceServer = verification.resourceServers.contains(exactly: audience)
        if isResourceServer, !request.client.dpopProofs.isEmpty, request.client.accessToken.isNil {
            throw InvalidRequest("the field 'accessToken' is missing: at a resource server a DPoP proof is for one")
        }
        let challenges = challenges(verification, context)
        do {
            let tokens = context.tokens
            let client = try await verification.verifier.verify(
                request.client,
                by: verification.attesters(of: scope.project, clients: names.all) {
                    attestationClaims(of: $0, tokens) != nil
                },
                for: audience, challenges: challenges, now: context.now)
            try await ProofMemory(context.state.subspace("proofs")).remember(client.proofs)
            var members = [
                JSONMember("clientId", .string(client.clientID)), JSONMember("jkt", .string(client.key.thumbprint)),
                JSONMember("cnf", client.key.confirmation),
                JSONMember("mode", .string(client.method.authenticationMethod)),
                JSONMember("attester", .string(client.attester)), JSONMember("exp", .integer(client.expires.seconds)),
            ]
            if let thumbprint = client.dpopThumbprint { members.append(JSONMember("dpopJkt", .string(thumbprint))) }
            if verification.verifier.rules.challenge != .off {
                let next = try await challenges.issue(for: audience, now: context.now, randomness: host.randomness)
                members.append(JSONMember("attestationChallenge", .string(next)))
            }
            return .granted(
                ConsumerReply(
                    .object(members),
                    facts: [
                        Fact(.oauthClient, cutting: client.clientID), Fact(.clientKey, .text(client.key.thumbprint)),
                        Fact(.attester, cutting: client.attester),
                    ]))
        } catch let refusal as ClientRefusal {
            throw try await failure(refusal, request, challenges, audience, context)
        }
    }

    /// `POST /client-attestation/challenge`.
    func challenge(_ request: ChallengeRequest, _ context: ConsumerContext) async throws -> ConsumerVerdict {
        let (verification, audience) = try verification(for: request.audience)
        let rules = verification.verifier.rules
        guard rules.challenge != .off || rules.dpopNonce != .off else {
            return .refused(OAuthClientReasons.partAbsent, detail: "the policy has no challenges")
        }
        let challenge = try await challenges(verification, context).issue(
            for: audience, now: context.now, randomness: host.randomness)
        return .granted(ConsumerReply(.object(["attestation_challenge": .string(challenge)])))
    }

    /// `POST /oauth/client-assertion`.
    func judge(_ request: ClientAssertionRequest, _ context: ConsumerContext) async throws -> ConsumerVerdict {
        guard let assertions else { throw OAuthClientAnswers.absent }
        let mode = assertions.enforcement(for: request.clientID)
        let result = try await assertions.judge(request, context.tokens)
        host.meter.add(to: ClientAssertionCheck.made, result.kind.rawValue, mode.rawValue)
        if let reason = result.reason, mode == .enforced {
            throw OAuthClientAnswers.unverified(reason, detail: result.detail)
        }
        var members = [
            JSONMember("verified", .bool(result.kind == .verified)), JSONMember("clientId", .string(request.clientID)),
            JSONMember("result", .string(result.kind.rawValue)), JSONMember("enforcement", .string(mode.rawValue)),
        ]
        if let token = result.token {
            members.append(JSONMember("sub", .string(token.subject)))
            if let provider = token.provider { members.append(JSONMember("provider", .string(provider))) }
        }
        let finding = result.reason.map { reason in
            [reason.code, result.detail].compactMap(\.self).joined(separator: " ")
        }
        return .granted(
            ConsumerReply(
                .object(members),
                facts: [
                    Fact(.oauthClient, cutting: String(request.clientID.prefix(128))),
                    Fact(.clientAssertion, cutting: finding ?? result.kind.rawValue),
                ], unenforced: result.reason))
    }

    /// `POST /introspect`.
    func introspect(_ request: IntrospectionRequest, _ context: ConsumerContext) async throws -> ConsumerVerdict {
        guard let introspection else { throw OAuthClientAnswers.absent }
        return .granted(
            try await introspection.introspect(
                request.token, attestation: { attestationClaims(of: $0, context.tokens) }, names: names, context))
    }

    private func verification(
        for audience: String?
    ) throws(CallFailure) -> (AttestationVerification, audience: String) {
        guard let verification else { throw OAuthClientAnswers.absent }
        // A request that names no attester is for the only one.
        guard let audience = audience ?? (audiences.count == 1 ? audiences.first : nil),
            authorizationServers.contains(audience) || verification.resourceServers.contains(exactly: audience)
        else { throw OAuthClientAnswers.absent }
        return (verification, audience)
    }

    private func challenges(
        _ verification: AttestationVerification, _ context: ConsumerContext
    ) -> AttestationChallenges {
        AttestationChallenges(
            lifetime: verification.challengeLifetime, state: context.state.subspace("challenge_keys"),
            randomness: host.randomness)
    }

    /// The response to the client, with a new challenge if it needs one.
    private func failure(
        _ refusal: ClientRefusal, _ request: VerifyClientRequest, _ challenges: AttestationChallenges,
        _ audience: String, _ context: ConsumerContext
    ) async throws -> CallFailure {
        var metadata: [CallFailure.Metadata] = []
        if [.useAttestationChallenge, .useDPoPNonce].contains(refusal.code) {
            let fresh = try await challenges.issue(for: audience, now: context.now, randomness: host.randomness)
            if refusal.code == .useAttestationChallenge {
                metadata.append(.init("oauth-client-attestation-challenge", fresh))
            }
            // A DPoP proof that does for both answers in its nonce.
            if refusal.code == .useDPoPNonce || request.client.possessionProofs.isEmpty {
                metadata.append(.init("dpop-nonce", fresh))
            }
        }
        return OAuthClientAnswers.unauthenticated(refusal, metadata: metadata)
    }
}
