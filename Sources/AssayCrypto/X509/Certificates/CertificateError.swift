public import AssayCore

/// Why bytes are not a certificate that is read here.
public struct CertificateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors.
    @nonexhaustive public enum Code: String, Sendable, Hashable {
        /// Not the DER of RFC 5280's `Certificate`, or a part of it has another form than it must.
        case malformed
        /// More bytes, extensions or certificates than are read here.
        case tooLarge = "too_large"
        /// Another version than 3.
        case versionUnsupported = "version_unsupported"
        /// A serial number that is not positive, or longer than 20 bytes.
        case serialNumberInvalid = "serial_number_invalid"
        /// A signature algorithm that is not accepted, or unknown parameters.
        case signatureAlgorithmUnsupported = "signature_algorithm_unsupported"
        /// The signature algorithm inside the signed part is not the one outside.
        case signatureAlgorithmsDiffer = "signature_algorithms_differ"
        /// A kind of key that is not accepted.
        case keyUnsupported = "key_unsupported"
        /// The key is not an uncompressed point of its curve, or not an RSA key that is safe to use.
        case keyInvalid = "key_invalid"
        /// One extension occurs twice.
        case extensionDuplicated = "extension_duplicated"
        /// An extension that is judged here is malformed.
        case extensionMalformed = "extension_malformed"
        /// The certificate is not allowed to certify others.
        case notAuthority = "not_authority"
    }

    /// The kind of error.
    public let code: Code
    /// The object identifier of the extension that the code is about, in dotted form; nil for the other codes.
    @Exact public private(set) var extensionIdentifier: String?
    /// The place where the ASN.1 is malformed; nil when it is well-formed.
    public let cause: ASN1Error?

    package init(_ code: Code, extension identifier: OID? = nil, cause: ASN1Error? = nil) {
        self.code = code
        self.cause = cause
        extensionIdentifier = identifier.map(\.description)
    }

    /// The code, the extension and the cause, for logs.
    public var description: String {
        let subject = extensionIdentifier.map { " (extension \($0))" } ?? ""
        return code.rawValue + subject + (cause.map { ": \($0)" } ?? "")
    }
}
