public import AssayCore

/// The header fields in which a client proves that it made a request: nil for a missing one, and for a repeated one the
/// values joined with `, ` (RFC 9110, section 5.3).
public struct RequestProofHeaders: Sendable, Hashable {
    /// The names of the fields, in lower case.
    public static let names = ["content-digest", "signature-input", "signature"]

    /// The digest of the content (RFC 9530): `sha-256=:…:`.
    @Exact public var contentDigest: String?
    /// What is signed, and when (RFC 9421, section 4.1).
    @Exact public var signatureInput: String?
    /// The assertion of the device (RFC 9421, section 4.2).
    @Exact public var signature: String?

    /// Takes the values of the three fields.
    public init(contentDigest: String?, signatureInput: String?, signature: String?) {
        self.contentDigest = contentDigest
        self.signatureInput = signatureInput
        self.signature = signature
    }

    /// Takes the fields of a request.
    ///
    /// - Parameter header: the value of a field by its lower-case name.
    public init(_ header: (String) -> String?) {
        self.init(
            contentDigest: header("content-digest"), signatureInput: header("signature-input"),
            signature: header("signature"))
    }

    /// Whether the request has no proof at all: a `Content-Digest` alone is none.
    var areAbsent: Bool { signatureInput.isNil && signature.isNil }
}
