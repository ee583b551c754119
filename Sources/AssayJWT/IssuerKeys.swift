public import AssayCore
public import AssayCrypto
public import AssayKit

/// The keys of another service that signs JWTs: fixed ones, or those that a JWKS document publishes.
public struct IssuerKeys: Sendable {
    private enum Source: Sendable {
        case fixed([JWK])
        case published(PublishedKeys)
    }

    private let source: Source

    /// The value of `typ`, if present, of a JWT without a more specific type.
    public static let jwt: Set<ExactText> = ["jwt"]

    /// Counts the keys that cannot be used, in each set that was read.
    package static let skipped = Metric.counter(
        "issuer_keys_skipped_total", "Keys in sets of issuers that cannot be used, each time that a set is read.")

    /// Keys that do not change until the policy does.
    public static func fixed(_ keys: [JWK]) -> IssuerKeys {
        IssuerKeys(source: .fixed(keys))
    }

    /// The keys of a JWKS document, fetched when one is needed and kept as long as they may be.
    public static func published(at url: EndpointURL, host: PluginHost) -> IssuerKeys {
        IssuerKeys(source: .published(PublishedKeys(url: url, host: host)))
    }

    /// Verifies a token's signature, and returns the token with its claims, which are not judged yet.
    ///
    /// A token that names its key is verified with that key only; a token without a name is tried with each key that
    /// matches its algorithm, because an issuer has few.
    ///
    /// - Parameters:
    ///   - token: a JWT in the compact form.
    ///   - types: the allowed values of `typ`, in lower case, if it is present.
    /// - Throws: ``JWTFault`` when the token is invalid; ``KeysUnavailable`` when the keys are unavailable now.
    public func verify(
        _ token: String, types: Set<ExactText> = IssuerKeys.jwt
    ) async throws -> (header: JWSHeader, claims: JWTClaims) {
        let signed: CompactJWS
        do throws(JWSError) {
            signed = try CompactJWS.parse(utf8: Array(token.utf8)[...])
        } catch {
            throw JWTFault(error)
        }
        guard signed.header.type.map({ types.contains(ExactText($0.lowercasedASCII)) }) ?? true else {
            throw JWTFault.type
        }
        let candidates = try await keys(for: signed.header.keyID).filter { key in
            key.use?.isExactly("sig") ?? true
        }
        guard !candidates.isEmpty else { throw JWTFault.keyUnknown }
        var fault = JWTFault.algorithm
        for key in candidates {
            do throws(JWSError) {
                try signed.verify(with: key.publicKey)
            } catch {
                if case .badSignature = error { fault = .signature }
                continue
            }
            return (signed.header, try JWTClaims(payload: signed.payload))
        }
        throw fault
    }

    /// Returns when no fetch is under way.
    func settle() async {
        if case .published(let published) = source { await published.settle() }
    }

    private func keys(for keyID: String?) async throws -> [JWK] {
        let keys: [JWK]
        switch source {
        case .fixed(let fixed): keys = fixed
        case .published(let published): keys = try await published.keys(including: keyID)
        }
        guard let keyID else { return keys }
        // A key without an identifier, such as one from a certificate, is used for any key name.
        return keys.filter { $0.keyID?.isExactly(keyID) ?? true }
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
        do throws(JWKError) {
            let set = try JWKSet(json: document)
            guard !set.keys.isEmpty else {
                let problems = ["no key that can be used"] + set.skipped.map(\.description)
                throw JWKError.malformed(problems.joined(separator: "; "))
            }
            set.logSkipped(of: "\(reference)", to: host.logger)
            if !set.skipped.isEmpty { host.meter.unscoped.add(Double(set.skipped.count), to: IssuerKeys.skipped) }
            return .fixed(set.keys)
        } catch {
            throw ConfigurationError(at: path, "\(reference) holds no set of public keys (RFC 7517): \(error)")
        }
    }
}
