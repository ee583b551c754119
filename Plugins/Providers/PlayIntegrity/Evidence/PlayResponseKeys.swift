public import AssayCore
public import AssayCrypto
internal import AssayKit

/// The keys with which an app's classic tokens are opened and verified (Play Console, "Manage and download my response encryption keys").
public struct PlayResponseKeys: Sendable {
    /// One generation: both keys of a download.
    struct Generation: Sendable {
        let decryption: SecretBytes
        let verification: PublicKey
    }

    /// The newest first.
    let generations: [Generation]

    /// The keys of one download.
    ///
    /// - Parameters:
    ///   - decryption: 32 bytes.
    ///   - verification: a key on P-256; under any other all tokens are refused.
    public init(decryption: SecretBytes, verification: PublicKey) {
        generations = [Generation(decryption: decryption, verification: verification)]
    }

    /// Opens a classic token in compact form, and returns its payload; what the payload says is not judged.
    ///
    /// - Throws: ``PlayRefusal``.
    public func open(_ token: [UInt8]) throws(PlayRefusal) -> JSON {
        try open(Self.read(token))
    }

    /// Separates the parts of a classic token.
    static func read(_ token: [UInt8]) throws(PlayRefusal) -> KeyWrappedJWE {
        do throws(JWEError) {
            return try KeyWrappedJWE.parse(utf8: token[...])
        } catch {
            throw PlayRefusal(PlayIntegrityReasons.tokenMalformed, "\(error)")
        }
    }

    /// Opens a classic token: a JWS, signed by ES256, in a JWE, encrypted by A256GCM with a key that is wrapped by A256KW.
    ///
    /// A token is verified by the generation that opens it, and by no other.
    func open(_ token: KeyWrappedJWE) throws(PlayRefusal) -> JSON {
        for generation in generations {
            let content: [UInt8]
            do throws(JWEError) {
                content = try token.decrypt(with: generation.decryption)
            } catch {
                continue
            }
            let signed: CompactJWS
            do throws(JWSError) {
                signed = try CompactJWS.parse(utf8: content[...])
                guard signed.header.algorithm == .es256 else { throw .algorithmMismatch }
                try signed.verify(with: generation.verification)
            } catch {
                if case .malformed(.tooLarge) = error {
                    throw PlayRefusal(
                        PlayIntegrityReasons.verdictMalformed,
                        "\(content.count) bytes, expected at most \(CompactJWS.maximumByteCount)")
                }
                throw PlayRefusal(PlayIntegrityReasons.signatureInvalid, "\(error)")
            }
            return try Self.payload(signed.payload)
        }
        throw PlayRefusal(PlayIntegrityReasons.notOpened)
    }

    private static func payload(_ bytes: [UInt8]) throws(PlayRefusal) -> JSON {
        do throws(JSONError) {
            return try JSON.parse(
                bytes,
                limits: JSON.Limits(
                    bytes: CompactJWS.maximumByteCount, depth: 8, values: 512, allowsRepeatedNames: false))
        } catch {
            throw PlayRefusal(PlayIntegrityReasons.verdictMalformed, "\(error)")
        }
    }
}

extension PlayResponseKeys {
    /// The most generations: the one in use, and the one before.
    static let limit = 2

    /// The keys that a section names.
    ///
    /// - Throws: the error, at its place; nothing of a key.
    init(_ configurations: [PlayResponseKeysConfiguration], _ secrets: SecretSource) throws(ConfigurationError) {
        guard (1...Self.limit).contains(configurations.count) else {
            throw ConfigurationError(at: ["response_keys"], "expected one or two pairs of keys, the newest first")
        }
        var generations: [Generation] = []
        for (index, configuration) in configurations.enumerated() {
            let place: [ConfigurationError.Component] = ["response_keys", .index(index)]
            var key = try Self.read(
                "DECRYPTION_KEY", configuration.decryptionKey, secrets, at: place + ["decryption_key"])
            defer { SecretBytes.wipe(&key) }
            guard key.count == AES256KeyWrap.keyByteCount else {
                throw ConfigurationError(
                    at: place + ["decryption_key"],
                    "\(configuration.decryptionKey) holds no key of \(AES256KeyWrap.keyByteCount) bytes in Base64")
            }
            let spki = try Self.read(
                "VERIFICATION_KEY", configuration.verificationKey, secrets, at: place + ["verification_key"])
            guard let verification = Self.publicKey(spki) else {
                throw ConfigurationError(
                    at: place + ["verification_key"],
                    "\(configuration.verificationKey) holds no public key on P-256 in Base64")
            }
            generations.append(Generation(decryption: SecretBytes(key), verification: verification))
        }
        self.generations = generations
    }

    /// The bytes of a key: the value of a line `NAME=…`, as in the file that the Play Console gives, or the whole text, in Base64.
    private static func read(
        _ name: String, _ reference: SecretReference, _ secrets: SecretSource,
        at path: [ConfigurationError.Component]
    ) throws(ConfigurationError) -> [UInt8] {
        var text = try secrets.required(reference, at: path)
        defer { SecretBytes.wipe(&text) }
        let prefix = Array("\(name)=".utf8)
        let lines = text.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        let line = lines.first { $0.starts(with: prefix) }?.dropFirst(prefix.count)
        return Base64.decode(utf8: Array(line ?? (lines.count == 1 ? lines[0] : []))) ?? []
    }

    /// A key on P-256 from its SubjectPublicKeyInfo in DER; nil for any other bytes.
    private static func publicKey(_ spki: [UInt8]) -> PublicKey? {
        guard (64...512).contains(spki.count) else { return nil }
        var pem = Array("-----BEGIN PUBLIC KEY-----\n".utf8)
        for (index, byte) in Base64.encode(spki).utf8.enumerated() {
            if index > 0, index % 64 == 0 { pem.append(UInt8(ascii: "\n")) }
            pem.append(byte)
        }
        pem += Array("\n-----END PUBLIC KEY-----\n".utf8)
        guard let key = try? PublicKey(pem: pem), case .ec(let point) = key, point.curve == .p256 else { return nil }
        return key
    }
}
