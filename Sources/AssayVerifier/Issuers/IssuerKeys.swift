public import AssayCore
public import AssayCrypto
public import AssayKit

/// The keys of another service that signs JWTs: fixed ones, or those that a JWKS document publishes.
///
/// All sections of policies that name one document share its keys, so that they are fetched and read once.
public struct IssuerKeys: Sendable {
    private enum Source: Sendable {
        case fixed(FixedKeys)
        case published(PublishedKeys)
    }

    /// Keys that do not change.
    private final class FixedKeys: Sendable {
        let table: KeyTable

        init(_ keys: [JWK]) {
            table = KeyTable(keys)
        }
    }

    private let source: Source

    /// The value of `typ`, if present, of a JWT without a more specific type.
    public static let jwt: Set<ExactText> = ["jwt"]

    /// Counts the keys that cannot be used, in each set that was read.
    package static let skipped = Metric.counter(
        "issuer_keys_skipped_total", "Keys in sets of issuers that cannot be used, each time that a set is read.")

    /// Keys that do not change until the policy does.
    ///
    /// Of those without a `kid`, four of each algorithm are used (``JWKSet/maximumUnnamedCount``).
    public static func fixed(_ keys: [JWK]) -> IssuerKeys {
        IssuerKeys(source: .fixed(FixedKeys(keys)))
    }

    /// The keys of a JWKS document, fetched when one is needed and kept as long as they may be.
    public static func published(at url: EndpointURL, host: PluginHost) -> IssuerKeys {
        let http = host.uncountedHTTP ?? host.http
        return IssuerKeys(
            source: .published(host.shared.object("\(url)", client: http) { PublishedKeys(url: url, http, host) }))
    }

    /// Whether both are one set of keys, which was fetched or read once.
    package func isSame(as other: IssuerKeys) -> Bool {
        switch (source, other.source) {
        case (.fixed(let keys), .fixed(let others)): keys === others
        case (.published(let keys), .published(let others)): keys === others
        default: false
        }
    }

    /// Verifies a token's signature, and returns the token with its claims, which are not judged yet.
    ///
    /// A token that names its key is verified with that key only; a token without a name is tried with each key of its
    /// algorithm if these are four or fewer, and otherwise with those keys that have no name.
    ///
    /// - Parameters:
    ///   - token: a JWT that was read.
    ///   - types: the allowed values of `typ`, in lower case, if it is present.
    /// - Throws: ``JWTFault`` when the token is invalid; ``KeysUnavailable`` when the keys are unavailable now.
    public func verify(_ token: UnverifiedJWT, types: Set<ExactText> = IssuerKeys.jwt) async throws -> VerifiedJWT {
        guard token.header.type.map({ types.contains(ExactText($0.lowercasedASCII)) }) ?? true else {
            throw JWTFault.type
        }
        for key in try await table(for: token.header.keyID).keys(for: token.header) {
            do throws(JWSError) {
                try token.signed.verify(with: key.publicKey)
            } catch {
                continue
            }
            return VerifiedJWT(token)
        }
        throw JWTFault.signature
    }

    /// Reads a token and verifies its signature.
    ///
    /// - Throws: ``JWTFault`` when the token is invalid; ``KeysUnavailable`` when the keys are unavailable now.
    public func verify(_ token: String, types: Set<ExactText> = IssuerKeys.jwt) async throws -> VerifiedJWT {
        try await verify(UnverifiedJWT(token), types: types)
    }

    /// Returns when no fetch is under way.
    func settle() async {
        if case .published(let published) = source { await published.settle() }
    }

    private func table(for keyID: String?) async throws(KeysUnavailable) -> KeyTable {
        switch source {
        case .fixed(let fixed): fixed.table
        case .published(let published): try await published.table(including: keyID)
        }
    }
}

/// The keys of an issuer are unavailable now, so its token cannot be judged.
public struct KeysUnavailable: Error, Sendable, Hashable, CustomStringConvertible {
    /// What failed, for operators: the URL and the answer or the error.
    @Exact public private(set) var message: String

    /// A fault with a text for operators; clients do not see it.
    public init(_ message: String) {
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

extension IssuerKeys {
    /// The keys that a section names by a URL at which they are published, or by a reference to a document that is read
    /// with the policy.
    ///
    /// - Parameters:
    ///   - text: an https URL of a JWKS document, or `file:PATH` or `env:NAME`.
    ///   - path: the path of the text in its section.
    ///   - host: what reads references, and fetches published keys.
    /// - Throws: the error in the text, or in the document that it refers to.
    public static func configured(
        _ text: String, at path: [ConfigurationError.Component], host: PluginHost
    ) throws(ConfigurationError) -> IssuerKeys {
        if let url = EndpointURL(text) { return .published(at: url, host: host) }
        guard let reference = SecretReference(text) else {
            throw ConfigurationError(at: path, "expected an https URL of a JWKS document, or file:PATH or env:NAME")
        }
        let document: [UInt8]
        do throws(SecretError) {
            document = try host.secrets.json(reference, isSecret: false)
        } catch {
            throw ConfigurationError(at: path, error.message)
        }
        let set: JWKSet
        do throws(JWKError) {
            set = try JWKSet(json: document)
            guard !set.keys.isEmpty else {
                let problems = ["no key that can be used"] + set.skipped.map(\.description)
                throw JWKError.malformed(problems.joined(separator: "; "))
            }
        } catch {
            throw ConfigurationError(at: path, "\(reference) holds no set of public keys (RFC 7517): \(error)")
        }
        if let key = set.skipped.first(where: \.isBeyondUnnamed) {
            throw ConfigurationError(
                at: path,
                "\(reference): \(key); each of them would be tried for a token: give its keys a `kid`")
        }
        var isNew = false
        let keys = host.shared.object("\(reference) \(Hex.encode(SHA256.hash(document)))") {
            isNew = true
            return FixedKeys(set.keys)
        }
        if isNew {
            set.logSkipped(of: "\(reference)", to: host.logger)
            if !set.skipped.isEmpty { host.meter.unscoped.add(Double(set.skipped.count), to: IssuerKeys.skipped) }
        }
        return IssuerKeys(source: .fixed(keys))
    }
}
