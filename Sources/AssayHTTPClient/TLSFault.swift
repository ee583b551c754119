internal import AssayCore
internal import NIOSSL

/// Why no TLS connection to a server is made, and what to do about it.
enum TLSFault: Hashable {
    /// The server's certificate is not accepted, for a reason that the library does not tell; see ``CertificateProbe``.
    case certificate
    case unknownAuthority
    case expired(Instant)
    case notYetValid(Instant)
    case otherName
    case noTLS
    case oldVersion
    case clientCertificateDemanded
    case closed
    /// Anything else, in the words of the library.
    case other(ExactText)

    /// What an error of the TLS library means; nil for other errors.
    init?(_ error: any Error) {
        switch error {
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: break
        default: return nil
        }
        if let extra = error as? NIOSSLExtraError, extra == .failedToValidateHostname {
            self = .otherName
            return
        }
        // The error has one line for each layer, of which the last may be the one that matters.
        let text = "\(error)"
        self =
            Self.names.first { text.utf8.contains($0.name.utf8) }?.fault
            ?? .other(ExactText(OutboundFailure.short(error)))
    }

    /// What the library's names for errors mean (BoringSSL, `ssl.errordata` and `tls1.h`).
    private static let names: [(name: String, fault: TLSFault)] = [
        ("CERTIFICATE_VERIFY_FAILED", .certificate),
        ("WRONG_VERSION_NUMBER", .noTLS), ("HTTP_REQUEST", .noTLS),
        ("UNSUPPORTED_PROTOCOL", .oldVersion), ("ALERT_PROTOCOL_VERSION", .oldVersion),
        ("CERTIFICATE_REQUIRED", .clientCertificateDemanded),
        ("EOF during", .closed), ("uncleanShutdown", .closed),
    ]

    /// - Parameters:
    ///   - host: the name or address that was called.
    ///   - authorities: what the client trusts.
    func words(calling host: String, trusting authorities: HTTPClientOptions.Authorities) -> String {
        switch self {
        case .certificate:
            "its certificate has expired, is not valid yet, or is of an authority that is not trusted; if it is the authority, "
                + authorities.advice
        case .unknownAuthority: "its certificate is of an authority that is not trusted: \(authorities.advice)"
        case .expired(let end): "its certificate expired at \(end): renew the server's certificate"
        case .notYetValid(let start):
            "its certificate is valid only from \(start) on: correct the clock of this machine, or the certificate"
        case .otherName:
            "its certificate is not for the name '\(host)': call the server by a name of its certificate, or get a certificate for this name"
        case .noTLS: "it does not speak TLS: is this the right port, and the right scheme of the URL?"
        case .oldVersion: "it speaks neither TLS 1.2 nor TLS 1.3: allow one of them at the server"
        case .clientCertificateDemanded:
            "it demands a certificate of its client, and none is sent: call an address of the server that demands none"
        case .closed: "it closed the connection before TLS was agreed: is this the right port, and does it speak TLS?"
        case .other(let text): "TLS failed: \(text)"
        }
    }
}
