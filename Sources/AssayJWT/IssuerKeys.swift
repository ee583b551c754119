public import AssayCrypto
public import AssayKit

/// The keys of somebody else who signs JWTs: fixed ones, or those that a JWKS document publishes.
public struct IssuerKeys: Sendable {
    private enum Source: Sendable {
        case fixed([JWK])
        case published(PublishedKeys)
    }

    private let source: Source

    /// What `typ` says, if it is there, of a JWT that says nothing more of itself.
    public static let jwt: Set<ExactText> = ["jwt"]

    /// Counts the keys that cannot be used, in each set that was read.
    static let skipped = Metric.counter(
        "issuer_keys_skipped_total", "Keys in sets of issuers that cannot be used, each time that a set is read.")

    /// Keys that do not change until the policy does.
    public static func fixed(_ keys: [JWK]) -> IssuerKeys {
        IssuerKeys(source: .fixed(keys))
    }

    /// The keys of a JWKS document, fetched when one is needed and kept as long as they may be.
    public static func published(at url: EndpointURL, host: PluginHost) -> IssuerKeys {
        IssuerKeys(source: .published(PublishedKeys(url: url, host: host)))
    }

    /// Verifies a token's signature, and returns it with its claims, which nobody has judged yet.
    ///
    /// A token that names its key is verified with that one alone; one that names none, with each key that goes with its
    /// algorithm, of which an issuer has few.
    ///
    /// - Parameter types: what `typ` may say, in lower case, where it is there.
    /// - Throws: ``JWTFault`` when the token is no good; ``KeysUnavailable`` when the keys cannot be had now.
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
        // A key without an identifier, such as one from a certificate, is the issuer's whatever tokens call it.
        return keys.filter { $0.keyID?.isExactly(keyID) ?? true }
    }
}

/// The keys of an issuer cannot be had now; whether its token is good cannot be decided.
public struct KeysUnavailable: Error, Sendable, Hashable, CustomStringConvertible {
    @Exact public private(set) var message: String

    public init(_ message: String) {
        self.message = message
    }

    public var description: String { message }
}
