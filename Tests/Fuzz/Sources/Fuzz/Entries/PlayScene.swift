internal import AssayCore
internal import AssayCrypto
internal import AssayPlayIntegrity
internal import AssayTesting

/// An app's keys for tokens of Play Integrity, and what makes tokens with them.
struct PlayScene: Sendable {
    /// The header of a token, as Google writes it.
    static let header = Array(#"{"alg":"A256KW","enc":"A256GCM"}"#.utf8)
    /// What a token says.
    static let payload = SimulatedPlayVerdict(nonce: "YSBjaGFsbGVuZ2Ugb2YgdGhlIGFwcA", made: FuzzScene.now).payload
        .encoded

    let keys: PlayResponseKeys
    let contentKey: [UInt8]
    private let decryption: SecretBytes
    private let nonce: [UInt8]
    private let signer: JWSSigner
    private let other: JWSSigner

    init(random: Randomness) throws {
        decryption = SecretBytes(random.bytes(AES256KeyWrap.keyByteCount))
        contentKey = random.bytes(AES256GCM.keyByteCount)
        nonce = random.bytes(AES256GCM.nonceByteCount)
        let signing = try (0..<2).map { _ in
            try PrivateKey(pem: Array(try SimulatedKey(.p256, random: random).pem().utf8))
        }
        signer = try JWSSigner(key: signing[0], keyID: "play", algorithm: .es256)
        other = try JWSSigner(key: signing[1], keyID: "play", algorithm: .es256)
        keys = PlayResponseKeys(decryption: decryption, verification: signing[0].publicKey)
    }

    /// A payload, signed.
    func content(of payload: [UInt8], isForged: Bool = false) throws -> [UInt8] {
        Array(try (isForged ? other : signer).sign(payload: payload).utf8)
    }

    /// A content, encrypted; authentic whatever its header says.
    ///
    /// - Parameter contentKey: 16 to 64 bytes, a multiple of eight; with another number than 32 it is only wrapped.
    func token(
        header: [UInt8] = PlayScene.header, contentKey: [UInt8]? = nil, holding content: [UInt8]
    ) throws -> [UInt8] {
        let key = contentKey ?? self.contentKey
        let used = key.count == AES256GCM.keyByteCount ? key : self.contentKey
        let head = Base64.encodeURL(header)
        let box = try AES256GCM.seal(
            content[...], key: SecretBytes(used), nonce: nonce[...], authenticating: Array(head.utf8)[...])
        let parts = [
            try AES256KeyWrap.wrap(SecretBytes(key), with: decryption), nonce,
            Array(box.dropLast(AES256GCM.tagByteCount)), Array(box.suffix(AES256GCM.tagByteCount)),
        ]
        return Array(([head] + parts.map { Base64.encodeURL($0) }).joined(separator: ".").utf8)
    }
}
