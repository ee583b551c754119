internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayVerifier
internal import JWTKit

/// vapor/jwt-kit, verifying the same tokens by the same rules.
struct PeerVerifier: Sendable {
    private let keys: JWTKeyCollection
    private let token: String

    init(keySet: JSON, _ token: String) async throws {
        keys = try await JWTKeyCollection().add(jwksJSON: String(decoding: keySet.encoded, as: UTF8.self))
        self.token = token
    }

    var operation: Operation {
        Operation(waiting: { _ = try await keys.verify(token, as: AppCheckClaims.self) })
    }
}

/// The claims of an App Check token as jwt-kit has them declared.
private struct AppCheckClaims: JWTPayload {
    let sub: SubjectClaim
    let aud: AudienceClaim
    let provider: String?
    let iss: IssuerClaim
    let exp: ExpirationClaim
    let iat: IssuedAtClaim
    let jti: IDClaim

    func verify(using algorithm: some JWTAlgorithm) throws {
        let expectation = DebugService.expectation
        try exp.verifyNotExpired()
        try aud.verifyIntendedAudience(includes: expectation.audience)
        guard iss.value == expectation.issuer, !sub.value.isEmpty, !jti.value.isEmpty else {
            throw BenchmarkFailure("jwt-kit's claims are not the token's")
        }
    }
}
