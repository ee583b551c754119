/// The parts of a token in JWS compact form (RFC 7515, section 7.1); nothing in it is trusted before ``verify(with:)``.
public struct CompactJWS: Sendable {
    /// The largest token that is looked at, in bytes.
    public static let maximumByteCount = 16_384

    /// The header.
    public let header: JWSHeader
    /// The payload, decoded; not trusted before the signature is verified.
    public let payload: [UInt8]
    /// The bytes that are signed: the first two parts as they came.
    public let signingInput: ArraySlice<UInt8>
    /// The signature, decoded.
    public let signature: [UInt8]

    /// Separates the parts of a token.
    ///
    /// - Throws: ``JWSError``: `malformed` or `unsupportedAlgorithm`.
    public static func parse(utf8 token: ArraySlice<UInt8>) throws(JWSError) -> CompactJWS {
        try parse(utf8: token, limit: maximumByteCount)
    }

    /// Separates the parts of a document that may be larger than a token.
    ///
    /// - Parameter limit: the most bytes that it may have.
    package static func parse(utf8 token: ArraySlice<UInt8>, limit: Int) throws(JWSError) -> CompactJWS {
        let parts = try JWSParts(token, limit: limit)
        guard let json = parts.header.withUnsafeBufferPointer(Base64URL.decode) else { throw .malformed(.encoding) }
        let header = try JWSHeader(json: json)
        guard let payload = parts.payload.withUnsafeBufferPointer(Base64URL.decode),
            let signature = parts.signature.withUnsafeBufferPointer(Base64URL.decode)
        else { throw .malformed(.encoding) }
        return CompactJWS(header: header, payload: payload, signingInput: parts.signingInput, signature: signature)
    }

    /// Verifies the signature with a key that the caller chose.
    ///
    /// - Throws: ``JWSError``: `algorithmMismatch` unless the header's `alg` is the algorithm of the key's type,
    ///   `badSignature` unless the signature was made by the key.
    public func verify(with key: PublicKey) throws(JWSError) {
        guard header.algorithm == JWSAlgorithm(for: key) else { throw .algorithmMismatch }
        let digest = header.algorithm.digest
        let isValid =
            switch key {
            case .rsa(let key):
                key.isValidSignature(signature[...], digest: digest, message: signingInput)
            case .ec(let key):
                key.isValidSignature(raw: signature[...], digest: digest, message: signingInput)
            }
        guard isValid else { throw .badSignature }
    }
}

/// The three parts of a token as they came, still encoded.
struct JWSParts {
    let header: ArraySlice<UInt8>
    let payload: ArraySlice<UInt8>
    let signature: ArraySlice<UInt8>
    /// The header and the payload with the dot between them.
    let signingInput: ArraySlice<UInt8>

    /// Splits a token at its two dots.
    init(_ token: ArraySlice<UInt8>, limit: Int = CompactJWS.maximumByteCount) throws(JWSError) {
        guard token.count <= limit else { throw .malformed(.tooLarge) }
        let dot = UInt8(ascii: ".")
        guard let first = token.firstIndex(of: dot),
            let second = token[(first + 1)...].firstIndex(of: dot),
            !token[(second + 1)...].contains(dot)
        else { throw .malformed(.parts) }
        header = token[..<first]
        payload = token[(first + 1)..<second]
        signature = token[(second + 1)...]
        signingInput = token[..<second]
    }
}

/// Why a token in JWS compact form is refused.
@nonexhaustive public enum JWSError: Error, Sendable, Hashable, CustomStringConvertible {
    /// It is not three parts of unpadded base64url with a JSON object in front, or it is larger than 16 KiB.
    case malformed(Defect)
    /// Its `alg` is `none` or unknown.
    case unsupportedAlgorithm
    /// No key has its `kid`, or it names none.
    case unknownKey
    /// Its `alg` is not the algorithm of the key.
    case algorithmMismatch
    /// The signature is not the key's over these bytes.
    case badSignature

    /// The malformed part.
    @nonexhaustive public enum Defect: String, Sendable, Hashable {
        case tooLarge = "larger than 16 KiB"
        case parts = "not three parts"
        case encoding = "not unpadded base64url"
        case header = "a header that is not one JSON object of the right members"
        case critical = "an extension that must be understood"
    }

    /// A stable name for logs and metrics.
    public var code: String {
        switch self {
        case .malformed: "malformed"
        case .unsupportedAlgorithm: "unsupported_algorithm"
        case .unknownKey: "unknown_key"
        case .algorithmMismatch: "algorithm_mismatch"
        case .badSignature: "bad_signature"
        }
    }

    /// The code, and for a malformed token the defect, for logs.
    public var description: String {
        if case .malformed(let defect) = self { "malformed: \(defect.rawValue)" } else { code }
    }
}
