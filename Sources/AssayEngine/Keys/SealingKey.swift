internal import AssayCrypto
internal import AssayKit

/// A secret that seals artifacts and authenticates challenges.
///
/// Both uses have a key of their own, derived from the secret, and so has every sealed box: its key comes from a fresh
/// salt, so that random nonces never meet under one key however many boxes are sealed. A box is
///
///     version 1 ‖ key identifier 4 ‖ salt 16 ‖ nonce 12 ‖ ciphertext ‖ tag 16
struct SealingKey: RingKey {
    /// Four bytes that boxes and challenges name the key by.
    let id: [UInt8]
    let secret: SecretBytes
    var times: KeyTimes
    private let challenges: HMACSHA256

    private static let version: UInt8 = 1
    private static let headCount = 33

    /// - Parameter secret: 32 bytes.
    init(id: [UInt8], secret: SecretBytes, times: KeyTimes) throws(CryptoError) {
        self.id = id
        self.secret = secret
        self.times = times
        challenges = HMACSHA256(
            key: try HKDFSHA256.derive(
                from: secret, salt: [], info: Array("assay challenge v1".utf8), count: HMACSHA256.byteCount))
    }

    /// A fresh key.
    static func generate(_ times: KeyTimes, randomness: Randomness) throws(CryptoError) -> SealingKey {
        var secret = randomness.bytes(32)
        defer { SecretBytes.wipe(&secret) }
        return try SealingKey(id: randomness.bytes(4), secret: SecretBytes(secret), times: times)
    }

    /// What the key can be recognised by, and nothing learned of it.
    var digest: [UInt8] { challenges.authenticate(Array("assay key digest v1".utf8)[...]) }

    var name: String { "the sealing key \(Hex.encode(id))" }

    func authenticate(_ bytes: [UInt8], for purpose: SealedPurpose) -> [UInt8] {
        challenges.authenticate(bytes[...], purpose.label[...])
    }

    func authenticates(_ bytes: [UInt8], for purpose: SealedPurpose, tag: ArraySlice<UInt8>) -> Bool {
        challenges.isValid(tag, for: bytes[...], purpose.label[...])
    }

    func seal(_ plaintext: [UInt8], for purpose: SealedPurpose, randomness: Randomness) throws(CryptoError) -> [UInt8] {
        let head = [SealingKey.version] + id + randomness.bytes(16 + AES256GCM.nonceByteCount)
        let box = try AES256GCM.seal(
            plaintext[...], key: try boxKey(salt: head[5..<21]), nonce: head[21..<33],
            authenticating: (head + purpose.label)[...])
        return head + box
    }

    /// The identifier of the key that a box names; nil when it is no box.
    static func identifier(of sealed: [UInt8]) -> [UInt8]? {
        guard sealed.count > headCount, sealed[0] == version else { return nil }
        return Array(sealed[1..<5])
    }

    /// The plaintext of a box that one of the keys sealed for a purpose.
    static func open(_ sealed: [UInt8], for purpose: SealedPurpose, keys: [SealingKey]) -> [UInt8]? {
        guard sealed.count > headCount, sealed[0] == version else { return nil }
        let head = Array(sealed[..<headCount])
        // Where the keys of two services were put together, two of them may share an identifier.
        for key in keys where key.id[...] == head[1..<5] {
            let plaintext = try? AES256GCM.open(
                sealed[headCount...], key: key.boxKey(salt: head[5..<21]), nonce: head[21..<33],
                authenticating: (head + purpose.label)[...])
            if let plaintext { return plaintext }
        }
        return nil
    }

    private func boxKey(salt: ArraySlice<UInt8>) throws(CryptoError) -> SecretBytes {
        try HKDFSHA256.derive(
            from: secret, salt: salt, info: Array("assay artifact v1".utf8), count: AES256GCM.keyByteCount)
    }
}
