internal import AssayCore
public import AssayCrypto

/// A JWT that was read once (RFC 7519): its header and its claims, of which nothing is trusted yet.
///
/// Whatever is asked of the token later, its signature, its claims, or why it was refused, is asked of this value: a
/// token costs one reading, however many rules judge it.
public struct UnverifiedJWT: Sendable {
    /// The claims, according to the token.
    public let claims: JWTClaims
    let signed: CompactJWS

    /// Reads a JWT in the compact form.
    ///
    /// - Throws: ``JWTFault/malformed`` when it is not a JWT, ``JWTFault/algorithm`` for an unsupported one.
    public init(_ token: String) throws(JWTFault) {
        do throws(JWSError) {
            signed = try CompactJWS.parse(utf8: Array(token.utf8)[...])
        } catch {
            throw JWTFault(error)
        }
        claims = try JWTClaims(payload: signed.payload)
    }

    /// The header, according to the token.
    public var header: JWSHeader { signed.header }
}

/// A JWT whose signature is its issuer's; whether its claims are valid is not judged yet.
///
/// Only ``IssuerKeys`` makes it, so that claims cannot be judged of a token that nobody has verified.
public struct VerifiedJWT: Sendable {
    /// The header.
    public let header: JWSHeader
    /// The claims.
    public let claims: JWTClaims

    init(_ token: UnverifiedJWT) {
        header = token.header
        claims = token.claims
    }
}
