/// Why bytes are not a signed message that is read here.
package struct CMSError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    package enum Code: String, Sendable, Hashable {
        /// Not the encoding of a signed message, or a part of it has another form than it must.
        case malformed
        /// More bytes, or more certificates, than are read here.
        case tooLarge = "too_large"
        /// Another kind of message, version or content.
        case kindUnsupported = "kind_unsupported"
        /// Another digest than SHA-256, another signature than ECDSA with it, or unknown parameters.
        case algorithmUnsupported = "algorithm_unsupported"
        /// No signer, or more than one.
        case signerCount = "signer_count"
        /// A signed attribute that is unknown, missing, doubled, out of order or of a wrong form.
        case attributesMalformed = "attributes_malformed"
    }

    /// What is wrong.
    package let code: Code
    /// What the ASN.1 reader stopped at.
    package let cause: ASN1Error?

    package init(_ code: Code, cause: ASN1Error? = nil) {
        self.code = code
        self.cause = cause
    }

    package var description: String {
        code.rawValue + (cause.map { ": \($0)" } ?? "")
    }
}
