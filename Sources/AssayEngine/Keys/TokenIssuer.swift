package import AssayCore
package import AssayCrypto
package import AssayKit
package import AssayPolicy

/// Signs App Check tokens.
package struct TokenIssuer: Sendable {
    package let signer: JWSSigner

    package init(signer: JWSSigner) {
        self.signer = signer
    }

    /// Issues a token for an app that proved its identity through a provider.
    ///
    /// Times are whole seconds, because some clients read them as 32-bit integers; `iat` is rounded down, so that a
    /// verifier with a precise clock does not see it in the future. Tokens of a state's first minute name it in `state`: see
    /// ``StateMark``.
    ///
    /// - Parameters:
    ///   - isForDevelopment: whether the provider proves nothing: the token says so, for backends that verify it.
    ///   - lifetime: the lifetime of a session token; limited-use tokens have their own.
    ///   - id: the `jti` that a caller chose; nil for a random one.
    ///   - attester: the tag of the attester that the random `jti` carries, and the key that hides it; nil for none.
    ///   - mark: the rule of the policy that the token names; nil for none.
    ///   - confirmation: the key that the token names; nil for none.
    ///   - state: the state that the token is issued in; nil in trials without one.
    package func issue(
        _ claims: AppCheckClaims, provider: String, isForDevelopment: Bool, lifetime: Duration, limitedUse: Bool,
        id chosen: ChosenTokenID? = nil, attester: (tag: AttesterTag, key: SealingKey)? = nil, mark: String? = nil,
        confirmation: ConfirmationKey? = nil,
        state: StateMark? = nil, now: Instant, randomness: Randomness
    ) throws(CryptoError) -> SignedToken {
        let lifetime = limitedUse ? TokenLifetime.limitedUse : lifetime
        let issued = Instant(seconds: now.seconds)
        let expires = issued + lifetime
        let id =
            chosen?.id ?? attester.map { $0.key.tokenID(for: $0.tag, randomness: randomness) }
            ?? Base64.encodeURL(randomness.bytes(SealingKey.tokenIDBytes))
        var members = [
            JSONMember("sub", .string(claims.subject)),
            JSONMember("aud", .array(claims.audience.map { .string($0) })),
            JSONMember("provider", .string(provider)),
            JSONMember("iss", .string(claims.issuer)),
            JSONMember("exp", .integer(expires.seconds)),
            JSONMember("iat", .integer(issued.seconds)),
            JSONMember("jti", .string(id)),
        ]
        if let state, state.isNamed(by: issued) { members.append(JSONMember("state", .string(state.text))) }
        if let chosen { members.append(JSONMember("jti_by", .string(chosen.chooser))) }
        if isForDevelopment { members.append(JSONMember("development", true)) }
        if let confirmation { members.append(JSONMember("cnf", confirmation.claim)) }
        if let mark { members.append(JSONMember("assay_mark", .string(mark))) }
        let text = try signer.sign(payload: JSON.object(members).encoded)
        return SignedToken(text: text, id: id, lifetime: lifetime, expires: expires)
    }
}

extension TokenIssuer {
    /// Signs a JWT that is not an App Check token.
    ///
    /// - Throws: ``CryptoError``, also for a type that would make it an App Check token.
    func sign(type: String, _ claims: JSON) throws(CryptoError) -> String {
        guard !type.isEmpty, !type.lowercasedASCII.isExactly("jwt") else {
            throw CryptoError(.operationFailed, "only App Check tokens have the type JWT")
        }
        return try signer.sign(payload: claims.encoded, type: type)
    }
}

/// A token that was just issued.
package struct SignedToken: Sendable {
    package let text: String
    let id: String
    package let lifetime: Duration
    let expires: Instant

    /// The App Check message with the token; v1beta also has it under its old name.
    func message(_ version: APIVersion) -> JSON {
        let ttl = JSON.string("\(lifetime.wholeSeconds)s")
        return switch version {
        case .v1: ["token": .string(text), "ttl": ttl]
        case .v1beta: ["token": .string(text), "ttl": ttl, "attestationToken": .string(text)]
        }
    }
}

/// The claims that all tokens for one app share.
package struct AppCheckClaims: Sendable {
    /// `iss`: the issuer, followed by the project's number.
    package let issuer: String
    /// `sub`: the app ID or the OAuth client ID.
    package let subject: String
    /// `aud`: `projects/NUMBER`, then `projects/ID`.
    let audience: [String]

    package init(issuerPrefix: String, app: AppIdentity) {
        issuer = issuerPrefix + app.project.number
        subject = app.subject
        audience = ["projects/\(app.project.number)", "projects/\(app.project.id)"]
    }
}
