/// Verifies tokens against a set of keys; made once for a set, and shared by all requests.
///
/// Tokens that ``JWSSigner`` made carry one of a few headers that are known beforehand, so that these are compared and
/// not parsed.
public struct JWSVerifier: Sendable {
    private struct Entry: Sendable {
        let header: JWSHeader
        let encodedHeader: [UInt8]
        let key: PublicKey
    }

    private let entries: [Entry]

    /// A verifier for the keys of a set that have a `kid`, without which a token cannot name them, and that are not for
    /// another use than signatures.
    public init(_ keys: JWKSet) {
        entries = keys.keys.compactMap { key in
            guard let keyID = key.keyID, key.use ?? "sig" == "sig" else { return nil }
            let algorithm = JWSAlgorithm(for: key.publicKey)
            return Entry(
                header: JWSHeader(algorithm: algorithm, keyID: keyID, type: "JWT"),
                encodedHeader: JWSHeader.encoded(keyID: keyID, algorithm: algorithm),
                key: key.publicKey)
        }
    }

    /// Verifies a token with the key that its header names, and returns it.
    ///
    /// - Throws: ``JWSError``: any of its cases.
    public func verify(utf8 token: ArraySlice<UInt8>) throws(JWSError) -> CompactJWS {
        let parts = try JWSParts(token)
        if let entry = entries.first(where: { $0.encodedHeader[...] == parts.header }) {
            let token = try CompactJWS(parts: parts) { _ throws(JWSError) in entry.header }
            try token.verify(with: entry.key)
            return token
        }
        let token = try CompactJWS.parse(utf8: token)
        guard let entry = entries.first(where: { $0.header.keyID == token.header.keyID }) else {
            throw .unknownKey
        }
        try token.verify(with: entry.key)
        return token
    }
}
