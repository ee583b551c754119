public import AssayCore

/// Why a path of certificates does not lead from its leaf to a trust anchor.
public struct CertificatePathError: Error, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    @nonexhaustive public enum Code: String, Sendable, Hashable {
        /// The path has no certificate, or more than the verifier's limit.
        case lengthUnsupported = "length_unsupported"
        /// The name of the issuer differs from the subject of the next certificate.
        case issuerMismatch = "issuer_mismatch"
        /// No anchor has the name of the issuer.
        case untrusted
        /// The signature was not made with the issuer's key.
        case signatureInvalid = "signature_invalid"
        /// The validity has not begun.
        case notYetValid = "not_yet_valid"
        /// The validity is over.
        case expired
        /// The certificate issued another one and is not a certification authority's.
        case notAuthority = "not_authority"
        /// The certificate's key is not for signing certificates.
        case keyUsageUnfit = "key_usage_unfit"
        /// More certificates follow than the certificate allows.
        case pathTooLong = "path_too_long"
        /// The leaf is a certification authority's.
        case leafIsAuthority = "leaf_is_authority"
        /// A certificate that issued another one has an extension that only leaves have.
        case leafExtensionInIssuer = "leaf_extension_in_issuer"
        /// A critical extension that neither the verifier nor its caller checks.
        case criticalExtensionUnknown = "critical_extension_unknown"
        /// The key is not a point of its curve, or not an RSA key that is safe to use.
        case keyInvalid = "key_invalid"
    }

    /// The kind of error.
    public let code: Code
    /// With which certificate: 0 is the leaf, the number of certificates is the anchor.
    public let position: Int
    /// The validity of the certificate and the instant of the check; nil for codes that are not about the validity.
    @Exact public private(set) var detail: String?

    package init(_ code: Code, at position: Int, detail: String? = nil) {
        self.code = code
        self.position = position
        self.detail = detail
    }

    /// The code, the certificate and the detail, for logs.
    public var description: String {
        "\(code.rawValue) (certificate \(position))" + (detail.map { ": \($0)" } ?? "")
    }
}

extension CertificatePathError: Hashable {
    /// Errors with the same code at the same certificate are equal; details do not count.
    public static func == (left: CertificatePathError, right: CertificatePathError) -> Bool {
        left.code == right.code && left.position == right.position
    }

    /// Hashes what equality compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(position)
    }
}
