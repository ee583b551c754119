package import ArgumentParser
package import AssayCore
internal import AssayHTTPClient

/// Which authorities a command trusts that calls a server over HTTPS.
package struct AuthorityOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Authorities in PEM that the server may have its certificate from, in addition to those of the system.",
            valueName: "file"),
        completion: .file(extensions: ["pem", "crt"]))
    var ca: String?

    /// No authorities beside those of the system.
    package init() {}

    /// What names the file, in messages.
    package static let option = "--ca FILE"

    /// The certificates of the file in DER; none without a file.
    ///
    /// - Throws: `SecretError` when the file cannot be read or has no certificate.
    package func roots() throws(SecretError) -> [[UInt8]] { try clientOptions().additionalTrustRoots }

    /// How the command calls the server.
    ///
    /// - Throws: `SecretError` when the file cannot be read or has no certificate.
    func clientOptions() throws(SecretError) -> HTTPClientOptions {
        var options = HTTPClientOptions()
        try options.trust(ca, option: Self.option)
        return options
    }

    /// Says what a failure of TLS with a host means, and what to do; nil for another error.
    package func explainer(of host: String) throws(SecretError) -> @Sendable (any Error) -> String? {
        let options = try clientOptions()
        return { options.words(of: $0, calling: host) }
    }
}
