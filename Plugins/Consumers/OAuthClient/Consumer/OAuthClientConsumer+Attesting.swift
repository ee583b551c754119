internal import AssayCore
internal import AssayKit

/// The tokens that are issued for App Check tokens: client attestations and attestation results.
extension OAuthClientConsumer {
    /// Token exchange: an attestation for an authorization server, an attestation result for a relying party.
    ///
    /// If an audience offers both, `requested_token_type` decides. An attestation needs `client_jwk`, the client's
    /// public key as a JWK in JSON; a result accepts `eat_nonce`.
    func exchange(_ request: TokenExchangeRequest, _ context: ConsumerContext) async throws -> ExchangeVerdict {
        let asksForResult = request.requestedType.map { EARProfile.requestedTypes.contains($0.uri) } ?? false
        let hasResults = results?.audiences.contains(exactly: request.audience) ?? false
        if asksForResult || !authorizationServers.contains(request.audience) {
            guard let results, hasResults, context.token != nil else { return .refused(OAuthClientReasons.partAbsent) }
            return try result(request, results, context)
        }
        guard let attester else { return .refused(OAuthClientReasons.partAbsent) }
        try checkType(request)
        let texts = try request.fields.strings("clientJwk")
        guard texts.count == 1, let text = texts.first, !text.isEmpty else { throw OAuthClientAnswers.keyMissing }
        let (attestation, facts) = try attest(attester.key(inText: text), attester, context)
        guard let attestation else { return .refused(OAuthClientReasons.clientUnknown) }
        return .granted(ExchangedToken(attestation, use: "N_A", lifetime: attester.lifetime, facts: facts))
    }

    /// `POST /client-attestation`.
    func attest(_ request: AttestClientRequest, _ context: ConsumerContext) throws -> ConsumerVerdict {
        guard let attester else { return .refused(OAuthClientReasons.partAbsent) }
        guard let jwk = request.jwk else { throw OAuthClientAnswers.keyMissing }
        let (attestation, facts) = try attest(attester.key(in: jwk), attester, context)
        guard let attestation else { return .refused(OAuthClientReasons.clientUnknown) }
        return .granted(
            ConsumerReply(
                .object([
                    "client_attestation": .string(attestation), "expires_in": .integer(attester.lifetime.wholeSeconds),
                ]), facts: facts))
    }

    private func attest(
        _ key: ClientKey, _ attester: ClientAttester, _ context: ConsumerContext
    ) throws -> (attestation: String?, facts: [Fact]) {
        guard let app = context.app, let client = names.client(of: app) else { return (nil, []) }
        let facts = [Fact(.oauthClient, cutting: client), Fact(.clientKey, .text(key.thumbprint))]
        return (try attester.attest(key, of: client, context), facts)
    }

    private func result(
        _ request: TokenExchangeRequest, _ results: AttestationResults, _ context: ConsumerContext
    ) throws -> ExchangeVerdict {
        guard let token = context.token else { return .refused(OAuthClientReasons.partAbsent) }
        try checkType(request)
        let nonces = try request.fields.strings("eatNonce")
        let isPossible = nonces.allSatisfy {
            $0.utf8.count <= 352 && EARProfile.nonceLengths.contains($0.unicodeScalars.count)
        }
        guard nonces.count <= 1, isPossible else {
            throw OAuthClientAnswers.nonceInvalid
        }
        let claims = results.claims(
            of: token, for: request.audience, nonce: nonces.first, issuer: scope.issuer, now: context.now)
        let text = try context.tokens.sign(type: EARProfile.type, claims: claims)
        let lifetime = Duration.seconds(results.end(of: token, now: context.now).seconds - context.now.seconds)
        return .granted(ExchangedToken(text, type: request.requestedType ?? .jwt, use: "N_A", lifetime: lifetime))
    }

    /// - Throws: `CallFailure` when another type is requested than a JWT (RFC 8693, section 2.2.2).
    private func checkType(_ request: TokenExchangeRequest) throws(CallFailure) {
        guard let type = request.requestedType, type != .jwt else { return }
        guard EARProfile.requestedTypes.contains(type.uri) else {
            throw OAuthClientAnswers.typeNotOffered
        }
    }
}
