package import AssayCore
internal import AssayCrypto

/// The bearer tokens that `assay caller-token` makes: `assay_ct_`, 256 random bits, and a checksum, in hexadecimal.
///
/// With the prefix, programs that search text for secrets recognise a published token. With the checksum, a cut or
/// mistyped token is distinguished from an unknown one.
package enum CallerToken {
    /// The prefix of each token.
    package static let prefix = "assay_ct_"
    private static let secretBytes = 32
    private static let checksumBytes = 4

    /// Makes a token.
    package static func make(_ randomness: Randomness = .system) -> String {
        let body = prefix + Hex.encode(randomness.bytes(secretBytes))
        return body + checksum(body)
    }

    /// The SHA-256 that a policy's `sha256` has for a token, in hexadecimal.
    package static func hash(of token: String) -> String { Hex.encode(SHA256.hash(Array(token.utf8))) }

    /// Whether a token is complete; nil for a token without the prefix, because that cannot be known.
    static func isWhole(_ token: String) -> Bool? {
        guard token.starts(withExactly: prefix) else { return nil }
        let digits = 2 * checksumBytes
        guard token.utf8.count == prefix.utf8.count + 2 * secretBytes + digits else { return false }
        let body = String(token.dropLast(digits))
        return token.isExactly(body + checksum(body))
    }

    private static func checksum(_ body: String) -> String {
        Hex.encode(SHA256.hash(Array(body.utf8)).prefix(checksumBytes))
    }
}
