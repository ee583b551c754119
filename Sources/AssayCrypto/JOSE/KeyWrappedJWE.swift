public import AssayCore

/// A message in JWE compact form (RFC 7516, section 7.1) whose content key is wrapped by a shared key: A256KW with A256GCM.
///
/// Everybody who has the shared key can make a message: it says nothing of its sender.
public struct KeyWrappedJWE: Sendable {
    /// The largest message that is looked at, in bytes.
    public static let maximumByteCount = 65_536

    private static let algorithm = "A256KW"
    private static let encryption = "A256GCM"

    /// The first part as it came, which is authenticated with the content.
    private let authenticated: [UInt8]
    private let wrappedKey: [UInt8]
    private let nonce: [UInt8]
    /// The ciphertext and the tag.
    private let box: [UInt8]

    /// Separates the parts of a message; only the header is read.
    ///
    /// - Throws: ``JWEError``: `malformed` or `unsupported`.
    public static func parse(utf8 message: ArraySlice<UInt8>) throws(JWEError) -> KeyWrappedJWE {
        let parts = try JWEParts(message, limit: maximumByteCount)
        let header = try JWEParts.header(parts.header)
        guard header.algorithm.isExactly(algorithm), header.encryption.isExactly(encryption) else {
            throw .unsupported
        }
        guard parts.encryptedKey.count == AES256GCM.keyByteCount + AES256KeyWrap.overhead else {
            throw .malformed(.lengths)
        }
        return KeyWrappedJWE(
            authenticated: parts.authenticated, wrappedKey: parts.encryptedKey, nonce: parts.nonce, box: parts.box)
    }

    /// Decrypts the message with the shared key, and returns the plaintext.
    ///
    /// - Throws: ``JWEError``: `notForKey` unless the key has 32 bytes; `notAuthentic` for another key than the sender's, or when any
    ///   part of the message was changed; these cannot be told apart.
    public func decrypt(with key: SecretBytes) throws(JWEError) -> [UInt8] {
        do throws(CryptoError) {
            let contentKey = try AES256KeyWrap.unwrap(wrappedKey[...], with: key)
            return try AES256GCM.open(
                box[...], key: contentKey, nonce: nonce[...], authenticating: authenticated[...])
        } catch {
            throw error.code == .authenticationFailed ? .notAuthentic : .notForKey
        }
    }

    /// Encrypts a plaintext with a shared key.
    ///
    /// - Parameter randomness: where the content key and the nonce come from.
    /// - Throws: ``CryptoError``: `invalid_argument` unless the key has 32 bytes.
    public static func encrypt(
        _ plaintext: [UInt8], with key: SecretBytes, randomness: Randomness = .system
    ) throws(CryptoError) -> [UInt8] {
        var fresh = randomness.bytes(AES256GCM.keyByteCount)
        defer { SecretBytes.wipe(&fresh) }
        let contentKey = SecretBytes(fresh)
        let nonce = randomness.bytes(AES256GCM.nonceByteCount)
        let header: JSON = .object(["alg": .string(algorithm), "enc": .string(encryption)])
        var message: [UInt8] = []
        Base64URL.append(header.encoded, to: &message)
        let box = try AES256GCM.seal(plaintext[...], key: contentKey, nonce: nonce[...], authenticating: message[...])
        for part in [
            try AES256KeyWrap.wrap(contentKey, with: key), nonce, box.dropLast(AES256GCM.tagByteCount),
            Array(box.suffix(AES256GCM.tagByteCount)),
        ] as [[UInt8]] {
            message.append(UInt8(ascii: "."))
            Base64URL.append(part, to: &message)
        }
        return message
    }
}

/// The five parts of a message in JWE compact form, decoded.
struct JWEParts {
    let header: [UInt8]
    /// The first part as it came, which is authenticated with the content.
    let authenticated: [UInt8]
    let encryptedKey: [UInt8]
    let nonce: [UInt8]
    /// The ciphertext and the tag.
    let box: [UInt8]

    init(_ message: ArraySlice<UInt8>, limit: Int) throws(JWEError) {
        guard message.count <= limit else { throw .malformed(.tooLarge) }
        let parts = message.split(separator: UInt8(ascii: "."), maxSplits: 5, omittingEmptySubsequences: false)
        guard parts.count == 5 else { throw .malformed(.parts) }
        let decoded = parts.compactMap { $0.withUnsafeBufferPointer(Base64URL.decode) }
        guard decoded.count == parts.count else { throw .malformed(.encoding) }
        guard decoded[2].count == AES256GCM.nonceByteCount, decoded[4].count == AES256GCM.tagByteCount else {
            throw .malformed(.lengths)
        }
        header = decoded[0]
        authenticated = Array(parts[0])
        encryptedKey = decoded[1]
        nonce = decoded[2]
        box = decoded[3] + decoded[4]
    }

    /// Reads a header: one JSON object, no member twice, without extensions and compression.
    static func header(_ bytes: [UInt8]) throws(JWEError) -> (json: JSON, algorithm: String, encryption: String) {
        let limits = JSON.Limits(bytes: 4096, depth: 8, values: 256, allowsRepeatedNames: false)
        let json: JSON
        do throws(JSONError) {
            json = try JSON.parse(bytes, limits: limits)
        } catch {
            throw .malformed(.header)
        }
        guard json.members != nil else { throw .malformed(.header) }
        guard json["crit"] == nil else { throw .malformed(.critical) }
        guard let algorithm = json["alg"]?.string, let encryption = json["enc"]?.string else {
            throw .malformed(.header)
        }
        // Compressed content would have a size that its message does not show.
        guard json["zip"] == nil else { throw .unsupported }
        return (json, algorithm, encryption)
    }
}
