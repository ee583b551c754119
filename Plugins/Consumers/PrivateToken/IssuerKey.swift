internal import AssayCore
internal import AssayCrypto

/// A key that signs blindly.
struct IssuerKey: Sendable {
    /// The length of blinded messages and of signatures: 2048 bits.
    static let byteCount = 256

    let key: BlindRSAPrivateKey
    private let notBefore: Instant?

    init(
        _ configuration: PrivateTokenConfiguration.Key, at path: [ConfigurationError.Component], secrets: SecretSource
    ) throws(ConfigurationError) {
        var bytes: [UInt8]
        do throws(SecretError) {
            bytes = try secrets.pem(configuration.privateKey)
        } catch {
            throw ConfigurationError(at: path + ["private_key"], error.message)
        }
        defer { SecretBytes.wipe(&bytes) }
        do throws(CryptoError) {
            key = try BlindRSAPrivateKey(PrivateKey(pem: bytes))
            guard key.publicKey.key.modulus.count == Self.byteCount else {
                throw CryptoError(.unsupportedKey, "a modulus of \(key.publicKey.key.bitCount) bits, expected 2048")
            }
        } catch {
            throw ConfigurationError(at: path + ["private_key"], "the key cannot be used: \(error.message)")
        }
        notBefore = configuration.notBefore
    }

    /// `truncated_token_key_id`: the last byte of the identifier.
    var truncatedID: UInt8? { key.publicKey.identifier.last }

    /// The identifier in hexadecimal digits.
    var identifier: String { Hex.encode(key.publicKey.identifier) }

    /// The key's entry in the directory (RFC 9578, section 4).
    var entry: JSON {
        let text = Base64.encodeURL(key.publicKey.subjectPublicKeyInfo)
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        var members = [JSONMember("token-type", .integer(2)), JSONMember("token-key", .string(text + padding))]
        if let notBefore { members.append(JSONMember("not-before", .integer(notBefore.seconds))) }
        return .object(members)
    }
}
