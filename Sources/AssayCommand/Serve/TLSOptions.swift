internal import ArgumentParser
internal import AssayCore
internal import AssayHTTPServer
internal import AssayReload
internal import Logging

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

    /// - Throws: `TLSError` when they are invalid.
    func open() throws -> ServerCertificate? {
        guard let tlsCertificate, let tlsKey else { return nil }
        return try ServerCertificate(certificateFile: tlsCertificate, keyFile: tlsKey)
    }

    /// What is read again, so that renewed certificates take effect without a restart.
    func subjects(_ certificate: ServerCertificate?, loaded: FileFingerprint) -> [ReloadSubject] {
        guard let certificate else { return [] }
        let files = certificate.files
        return [
            ReloadSubject("TLS certificate", fingerprint: { FileFingerprint(of: files) }, loaded: loaded) {
                guard try certificate.reload() else { return nil }
                let description = certificate.description
                return ["sha256": "\(description.fingerprint)", "expires": "\(description.expires)"]
            }
        ]
    }

    /// The files' state from before they are read.
    var fingerprint: FileFingerprint { FileFingerprint(of: [tlsCertificate, tlsKey].compactMap { $0 }) }
}
