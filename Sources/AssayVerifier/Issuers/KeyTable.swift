internal import AssayCore
internal import AssayCrypto

/// The keys of an issuer, found by what a token says of its key.
///
/// Any client can send a token with a wrong signature, so few keys are tried for one.
struct KeyTable: Sendable {
    /// The most keys that are tried for one token.
    static let limit = JWKSet.maximumUnnamedCount

    private var named: [ExactText: [JWK]] = [:]
    /// The keys without a `kid`.
    private var unnamed: [JWSAlgorithm: [JWK]] = [:]
    private var all: [JWSAlgorithm: [JWK]] = [:]

    init(_ keys: [JWK]) {
        for key in keys where key.use?.isExactly("sig") ?? true {
            let algorithm = JWSAlgorithm(for: key.publicKey)
            if let keyID = key.keyID {
                named[ExactText(keyID), default: []].append(key)
            } else {
                guard unnamed[algorithm, default: []].count < Self.limit else { continue }
                unnamed[algorithm, default: []].append(key)
            }
            all[algorithm, default: []].append(key)
        }
    }

    /// Whether a key has an identifier.
    func has(_ keyID: String) -> Bool { named[ExactText(keyID)] != nil }

    /// The keys that may have signed a token.
    ///
    /// A token that names its key is verified with that key or, if no key has the name, with those that have none. A
    /// token without a name is verified with the keys of its algorithm. If these are more than a few, the issuer must
    /// name them in its tokens (OpenID Connect Core 1.0, section 10.1), and only those without a name are tried.
    ///
    /// - Throws: why there is no such key.
    func keys(for header: JWSHeader) throws(JWTFault) -> [JWK] {
        let open = unnamed[header.algorithm] ?? []
        guard let keyID = header.keyID else {
            let fitting = all[header.algorithm] ?? []
            guard !fitting.isEmpty || all.isEmpty else { throw .algorithm }
            let tried = fitting.count <= Self.limit ? fitting : open
            guard !tried.isEmpty else { throw .keyUnknown }
            return tried
        }
        let named = named[ExactText(keyID)] ?? []
        let fitting = named.filter { JWSAlgorithm(for: $0.publicKey) == header.algorithm }
        let tried = fitting.isEmpty ? open : Array(fitting.prefix(Self.limit))
        guard tried.isEmpty else { return tried }
        throw named.isEmpty && unnamed.isEmpty ? .keyUnknown : .algorithm
    }
}
