internal import AssayCore
internal import AssayHTTPServer
internal import Logging

/// The certificates of a server's listeners, and what reads them again.
struct ServerCertificates: Sendable {
    /// That of the methods; nil without TLS.
    let methods: ServerCertificate?
    /// That of the listener for ext_authz; nil without TLS.
    let authorization: ServerCertificate?
    let subjects: [ReloadSubject]

    /// - Throws: `TLSError` when a file cannot be used.
    init(_ configuration: ServerConfiguration) throws {
        guard let files = configuration.tls else {
            (methods, authorization, subjects) = (nil, nil, [])
            return
        }
        // The state of the files from before they are read.
        let loaded = FileFingerprint(of: [files.certificate, files.key])
        let certificate = try ServerCertificate(certificateFile: files.certificate, keyFile: files.key)
        methods = certificate
        var subjects = [Self.subject("TLS certificate", certificate, loaded, namesAuthorities: false)]
        if configuration.authorization?.usesTLS == true {
            if let authorities = configuration.authorization?.clientAuthorityFile {
                let loaded = FileFingerprint(of: [files.certificate, files.key, authorities])
                let certificate = try ServerCertificate(
                    certificateFile: files.certificate, keyFile: files.key, clientAuthorityFile: authorities)
                authorization = certificate
                subjects.append(Self.subject("ext_authz certificates", certificate, loaded, namesAuthorities: true))
            } else {
                authorization = certificate
            }
        } else {
            authorization = nil
        }
        self.subjects = subjects
    }

    var all: [ServerCertificate] { [methods, authorization].compactMap(\.self) }

    /// What is read again, so that renewed certificates take effect without a restart.
    private static func subject(
        _ name: String, _ certificate: ServerCertificate, _ loaded: FileFingerprint, namesAuthorities: Bool
    ) -> ReloadSubject {
        let files = certificate.files
        return ReloadSubject(name, fingerprint: { FileFingerprint(of: files) }, loaded: loaded) {
            guard try certificate.reload() else { return nil }
            let description = certificate.description
            var metadata: Logger.Metadata = [
                "sha256": "\(description.fingerprint)", "expires": "\(description.expires)",
            ]
            if namesAuthorities { metadata["client_authorities"] = "\(description.clientAuthorities.count)" }
            return metadata
        }
    }
}
