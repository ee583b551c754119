/// How tokens are signed: the section `tokens`, which stands in at most one file.
public struct TokenPolicy: Sendable, Hashable {
    /// The signature algorithms that clients of App Check can verify.
    public enum Algorithm: String, Sendable, Hashable, CaseIterable {
        case rs256 = "RS256"
        case es256 = "ES256"
    }

    public var algorithm: Algorithm
    /// The size of RSA keys: 2048 or 3072; of no meaning for ES256.
    public var rsaBits: Int

    public init(algorithm: Algorithm = .rs256, rsaBits: Int = 2048) {
        self.algorithm = algorithm
        self.rsaBits = rsaBits
    }
}
