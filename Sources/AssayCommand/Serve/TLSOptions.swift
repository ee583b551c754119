internal import ArgumentParser
internal import AssayCore
internal import AssayServer

/// Whether the methods are served over TLS.
struct TLSOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Serve over TLS with this certificate, followed by those of intermediate authorities, in PEM form; read again "
                + "when it changes and on SIGHUP.", valueName: "file"),
        completion: .file(extensions: ["pem", "crt"]))
    var tlsCertificate: String?

    @Option(
        help: ArgumentHelp(
            "The certificate's private key in PEM form. Its owner is root or the user of this process; only a group of the process "
                + "may read it as well.", valueName: "file"),
        completion: .file(extensions: ["pem", "key"]))
    var tlsKey: String?

    func validate() throws {
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate FILE and --tls-key FILE must be given together")
        }
    }

    /// The files; nil without TLS.
    var files: CertificateFiles? {
        guard let tlsCertificate, let tlsKey else { return nil }
        return CertificateFiles(certificate: tlsCertificate, key: tlsKey)
    }
}
