package import AssayKit

/// Why a path of certificates does not lead from its leaf to a trust anchor.
package struct CertificatePathError: Error, Sendable, CustomStringConvertible {
    /// What is wrong.
    package enum Code: String, Sendable, Hashable {
        /// There is no certificate, or there are more than are followed.
        case lengthUnsupported = "length_unsupported"
        /// The name of the issuer is not that of the next certificate.
        case issuerMismatch = "issuer_mismatch"
        /// The name of the issuer is no anchor's.
        case untrusted
        /// The signature is not the issuer's.
        case signatureInvalid = "signature_invalid"
        /// The validity has not begun.
        case notYetValid = "not_yet_valid"
        /// The validity is over.
        case expired
        /// The certificate stands above another one and is not a certification authority's.
        case notAuthority = "not_authority"
        /// The certificate's key is not for signing certificates.
        case keyUsageUnfit = "key_usage_unfit"
        /// More certificates follow than the certificate allows.
        case pathTooLong = "path_too_long"
        /// The leaf is a certification authority's.
        case leafIsAuthority = "leaf_is_authority"
        /// A critical extension that nobody here judges.
        case criticalExtensionUnknown = "critical_extension_unknown"
        /// The key is not a point of its curve.
        case keyInvalid = "key_invalid"
    }

    /// What is wrong.
    package let code: Code
    /// With which certificate: 0 is the leaf, the number of certificates is the anchor.
    package let position: Int
    /// The validity of the certificate and when it was judged, where that is the matter.
    @Exact package private(set) var detail: String?

    package init(_ code: Code, at position: Int, detail: String? = nil) {
        self.code = code
        self.position = position
        self.detail = detail
    }

    package var description: String {
        "\(code.rawValue) (certificate \(position))" + (detail.map { ": \($0)" } ?? "")
    }
}

extension CertificatePathError: Hashable {
    /// Errors of one code at one certificate are equal, whatever they tell beside.
    package static func == (left: CertificatePathError, right: CertificatePathError) -> Bool {
        left.code == right.code && left.position == right.position
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(position)
    }
}
