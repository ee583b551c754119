public import AssayCore

/// The protected header of a message (RFC 7516, section 4), of which only these members mean anything here.
public struct JWEHeader: Sendable, Hashable {
    private static let algorithm = "ECDH-ES"
    private static let encryption = "A256GCM"

    /// The sender's key for this message only: `epk`.
    public let ephemeralKey: ECPublicKey
    /// Which key can decrypt the message; nil when the header does not say.
    @Exact public private(set) var keyID: String?
    /// What the plaintext is, `cty`; nil when the header does not say.
    @Exact public private(set) var contentType: String?
    /// What the parties agreed on, `apu` and `apv`, decoded.
    private let sender: [UInt8]
    private let recipient: [UInt8]

    /// Reads a header: one JSON object, no member twice.
    init(json bytes: [UInt8]) throws(JWEError) {
        let (json, algorithm, encryption) = try JWEParts.header(bytes)
        guard algorithm.isExactly(Self.algorithm), encryption.isExactly(Self.encryption) else { throw .unsupported }
        guard let key = json["epk"] else { throw .malformed(.ephemeralKey) }
        ephemeralKey = try Self.ephemeralKey(key)
        keyID = try Self.text("kid", of: json)
        contentType = try Self.text("cty", of: json)
        sender = try Self.bytes("apu", of: json)
        recipient = try Self.bytes("apv", of: json)
    }

    /// The header of a new message.
    static func encoded(ephemeral: PublicKey, recipient: JWERecipient, contentType: String?) -> [UInt8] {
        // A bare key: no `alg`, which would be one of signatures.
        let key = (JWK(ephemeral).json.members ?? []).filter { !$0.name.isExactly("alg") }
        var members = [
            JSONMember("alg", .string(algorithm)), JSONMember("enc", .string(encryption)),
            JSONMember("kid", .string(recipient.keyID)), JSONMember("epk", .object(key)),
        ]
        if let contentType { members.append(JSONMember("cty", .string(contentType))) }
        return JSON.object(members).encoded
    }

    /// The key of the content, for a message of our own.
    static func contentKey(from secret: SecretBytes) -> SecretBytes {
        ConcatKDF.derive(from: secret, algorithm: encryption, count: AES256GCM.keyByteCount)
    }

    /// The key of the content, by what the header says.
    func contentKey(from secret: SecretBytes) -> SecretBytes {
        ConcatKDF.derive(
            from: secret, algorithm: Self.encryption, sender: sender, recipient: recipient,
            count: AES256GCM.keyByteCount)
    }

    private static func ephemeralKey(_ json: JSON) throws(JWEError) -> ECPublicKey {
        let found: PublicKey
        do throws(JWKError) {
            found = try JWK(json).publicKey
        } catch {
            throw .malformed(.ephemeralKey)
        }
        guard case .ec(let key) = found, key.curve == .p256 else { throw .unsupported }
        return key
    }

    private static func text(_ name: String, of json: JSON) throws(JWEError) -> String? {
        guard let value = json[name] else { return nil }
        guard let text = value.string else { throw .malformed(.header) }
        return text
    }

    private static func bytes(_ name: String, of json: JSON) throws(JWEError) -> [UInt8] {
        guard let text = try text(name, of: json) else { return [] }
        guard let bytes = Base64.decodeURL(utf8: Array(text.utf8)[...]) else { throw .malformed(.header) }
        return bytes
    }
}
