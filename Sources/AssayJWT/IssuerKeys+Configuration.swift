internal import AssayCrypto
public import AssayKit

extension IssuerKeys {
    /// The keys that a section names by a URL at which they are published, or by a reference to a document that is read
    /// with the policy.
    ///
    /// - Parameters:
    ///   - text: an https URL of a JWKS document, or `file:PATH` or `env:NAME`.
    ///   - path: where the text stands in its section.
    /// - Throws: what is wrong with the text, or with the document that it refers to.
    public static func configured(
        _ text: String, at path: [ConfigurationError.Component], host: PluginHost
    ) throws(ConfigurationError) -> IssuerKeys {
        if let url = EndpointURL(text) { return .published(at: url, host: host) }
        guard let reference = SecretReference(text) else {
            throw ConfigurationError(at: path, "expected an https URL of a JWKS document, or file:PATH or env:NAME")
        }
        let document: [UInt8]?
        do throws(SecretError) {
            document = try host.secrets.document(reference)
        } catch {
            throw ConfigurationError(at: path, error.message)
        }
        guard let document else { throw ConfigurationError(at: path, "\(reference) is not set") }
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
