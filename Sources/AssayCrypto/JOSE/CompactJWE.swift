public import AssayCore

/// A message in JWE compact form (RFC 7516, section 7.1) for one recipient: `ECDH-ES` on P-256 (RFC 7518, section 4.6)
/// and `A256GCM` (section 5.3), as the common libraries read and write it.
///
/// Each message has an ephemeral key of its own, so that the private key of the recipient alone can read it. Everybody who
/// has the public key can make a message: it says nothing of its sender.
public struct CompactJWE: Sendable {
    /// The largest message that is looked at or made, in bytes.
    public static let maximumByteCount = 4 << 20
    /// The largest plaintext, in bytes: with the header and in Base 64 it is a message of less than the maximum.
    public static let maximumPlaintextByteCount = 3 << 20 - 4096

    /// The header; it is authentic only when the message could be decrypted.
    public let header: JWEHeader
    /// The first part as it came, which is authenticated with the content.
    private let authenticated: [UInt8]
    private let nonce: [UInt8]
    /// The ciphertext and the tag.
    private let box: [UInt8]

    /// Encrypts a plaintext for a recipient.
    ///
    /// - Parameters:
    ///   - plaintext: at most ``maximumPlaintextByteCount`` bytes.
    ///   - contentType: the header's `cty`, such as `json`; nil for none.
    ///   - randomness: where the nonce comes from. The ephemeral key is OpenSSL's.
    /// - Throws: ``CryptoError``: `invalid_argument` for a longer plaintext, `operation_failed` when OpenSSL fails.
    public static func encrypt(
        _ plaintext: [UInt8], to recipient: JWERecipient, contentType: String? = nil, randomness: Randomness = .system
    ) throws(CryptoError) -> [UInt8] {
        guard plaintext.count <= maximumPlaintextByteCount else {
            throw CryptoError(.invalidArgument, "a message has at most \(maximumPlaintextByteCount) bytes")
        }
        let ephemeral = try PrivateKey.generate(.ec(.p256))
        let header = JWEHeader.encoded(ephemeral: ephemeral.publicKey, recipient: recipient, contentType: contentType)
        let key = JWEHeader.contentKey(from: try ephemeral.sharedSecret(with: recipient.key))
        let nonce = randomness.bytes(AES256GCM.nonceByteCount)
        var message: [UInt8] = []
        message.reserveCapacity(header.count + Base64URL.encodedCount(plaintext.count) + 64)
        Base64URL.append(header, to: &message)
        let box = try AES256GCM.seal(
            plaintext[...], key: key, nonce: nonce[...], authenticating: message[...])
        // The key is agreed on directly, so that the part for an encrypted key is empty.
        message += [dot, dot]
        Base64URL.append(nonce, to: &message)
        message.append(dot)
        Base64URL.append(box.dropLast(AES256GCM.tagByteCount), to: &message)
        message.append(dot)
        Base64URL.append(box.suffix(AES256GCM.tagByteCount), to: &message)
        return message
    }

    /// Separates the parts of a message.
    ///
    /// - Throws: ``JWEError``: `malformed` or `unsupported`.
    public static func parse(utf8 message: ArraySlice<UInt8>) throws(JWEError) -> CompactJWE {
        let parts = try JWEParts(message, limit: maximumByteCount)
        let header = try JWEHeader(json: parts.header)
        guard parts.encryptedKey.isEmpty else { throw .malformed(.encryptedKey) }
        return CompactJWE(header: header, authenticated: parts.authenticated, nonce: parts.nonce, box: parts.box)
    }

    /// Decrypts the message with the private key of its recipient, and returns the plaintext.
    ///
    /// - Throws: ``JWEError``: `notForKey` for a key that is not on P-256, `notAuthentic` for another key than the
    ///   recipient's, or when any part of the message was changed; these cannot be told apart.
    public func decrypt(with key: PrivateKey) throws(JWEError) -> [UInt8] {
        do throws(CryptoError) {
            let secret = try key.sharedSecret(with: header.ephemeralKey)
            return try AES256GCM.open(
                box[...], key: header.contentKey(from: secret), nonce: nonce[...], authenticating: authenticated[...])
        } catch {
            throw error.code == .authenticationFailed ? .notAuthentic : .notForKey
        }
    }

    private static let dot = UInt8(ascii: ".")
}

/// The key that messages are encrypted for.
public struct JWERecipient: Sendable, Hashable {
    /// The public key, on P-256.
    public let key: ECPublicKey
    /// The thumbprint of the key (RFC 7638), which messages name as `kid`.
    @Exact public private(set) var keyID: String

    /// A recipient from its public key.
    ///
    /// - Throws: ``CryptoError`` (`unsupported_key`) unless the key is on P-256.
    public init(_ key: PublicKey) throws(CryptoError) {
        guard case .ec(let point) = key, point.curve == .p256 else {
            throw CryptoError(.unsupportedKey, "messages are encrypted for keys on P-256 only")
        }
        self.key = point
        keyID = JWK(key).thumbprint
    }
}

/// Why a message in JWE compact form cannot be read.
@nonexhaustive public enum JWEError: Error, Sendable, Hashable, CustomStringConvertible {
    /// It does not have the form.
    case malformed(Defect)
    /// Its `alg`, its `enc`, the curve of its `epk` or its compression is not supported.
    case unsupported
    /// The key is of another kind than the message's.
    case notForKey
    /// The key is not the recipient's, or the message was changed.
    case notAuthentic

    /// The malformed part.
    @nonexhaustive public enum Defect: String, Sendable, Hashable {
        case tooLarge = "larger than is looked at"
        case parts = "not five parts"
        case encoding = "not unpadded base64url"
        case header = "a header that is not one JSON object of the right members"
        case critical = "an extension that must be understood"
        case ephemeralKey = "an ephemeral key that is not a public key on P-256"
        case encryptedKey = "an encrypted key where the key is agreed on directly"
        case lengths = "a nonce or a tag of another length"
    }

    /// A stable name for logs.
    public var code: String {
        switch self {
        case .malformed: "malformed"
        case .unsupported: "unsupported"
        case .notForKey: "not_for_key"
        case .notAuthentic: "not_authentic"
        }
    }

    /// What is wrong, for operators.
    public var description: String {
        switch self {
        case .malformed(let defect): "malformed: \(defect.rawValue)"
        case .unsupported: "protected by other algorithms than are accepted"
        case .notForKey: "the key is of another kind"
        case .notAuthentic: "it was encrypted for another key, or changed"
        }
    }
}
