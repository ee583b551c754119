/// Why a path of certificates does not lead from its leaf to a trust anchor.
package struct CertificatePathError: Error, Sendable, Hashable, CustomStringConvertible {
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

    package init(_ code: Code, at position: Int) {
        self.code = code
        self.position = position
    }

    package var description: String { "\(code.rawValue) (certificate \(position))" }
}
