internal import AssayCore

/// Verifies tokens against a set of keys; made once for a set, and shared by all requests.
public struct JWSVerifier: Sendable {
    private let keys: [JWSVerificationKey]

    /// A verifier for the keys of a set that have a `kid`, without which a token cannot name them, and that are not for
    /// another use than signatures.
    public init(_ keys: JWKSet) {
        self.keys = keys.keys.compactMap { key in
            guard let keyID = key.keyID, key.isForSignatures else { return nil }
            return JWSVerificationKey(key.publicKey, keyID: keyID)
        }
    }

    /// Verifies a token with the key that its header names, and returns it.
    ///
    /// If several keys have that name, the one that matches the header's algorithm counts.
    ///
    /// - Throws: ``JWSError``: any of its cases.
    public func verify(utf8 token: ArraySlice<UInt8>) throws(JWSError) -> CompactJWS {
        let token = try CompactJWS.parse(utf8: token)
        guard let keyID = token.header.keyID else { throw .unknownKey }
        var named: JWSVerificationKey?
        for key in keys where key.header.keyID?.isExactly(keyID) ?? false {
            named = named ?? key
            guard key.header.algorithm == token.header.algorithm else { continue }
            named = key
            break
        }
        guard let named else { throw .unknownKey }
        try token.verify(with: named.publicKey)
        return token
    }

    /// Verifies a token with the key that its header names, and lends its header and its payload to `body`.
    ///
    /// Gives the same result as ``verify(utf8:)``, but faster: a token with a header as ``JWSSigner`` writes it is
    /// neither parsed nor copied to the heap. `body` is called once for a valid token and never for any other.
    ///
    /// - Throws: ``JWSError``: any of its cases.
    public func verify(
        _ token: Span<UInt8>, _ body: (JWSHeader, _ payload: Span<UInt8>) -> Void
    ) throws(JWSError) {
        // Not generic over the result of `body`: across modules that costs as much as reading the token does.
        for key in keys {
            guard let isValid = key.verify(token, body) else { continue }
            guard isValid else { throw .badSignature }
            return
        }
        let signed = try verify(utf8: token.withUnsafeBufferPointer { Array($0) }[...])
        body(signed.header, signed.payload.span)
    }
}
