package import AssayCore
package import AssayCrypto
package import AssayPolicy

/// A secret that seals artifacts and authenticates challenges.
///
/// Both uses have separate keys, derived from the secret. Every sealed box has its own key, derived with a fresh salt,
/// so that random nonces never collide under one key, however many boxes are sealed. A box is
///
///     version 1 ‖ key identifier 4 ‖ salt 16 ‖ nonce 12 ‖ ciphertext ‖ tag 16
package struct SealingKey: RingKey {
    /// The four bytes that identify the key in boxes and challenges.
    package let id: [UInt8]
    package let secret: SecretBytes
    package var times: KeyTimes
    private let challenges: HMACSHA256
    private let tokenTags: HMACSHA256

    private static let version: UInt8 = 1
    private static let headCount = 33

    /// - Parameter secret: 32 bytes.
    package init(id: [UInt8], secret: SecretBytes, times: KeyTimes) throws(CryptoError) {
        self.id = id
        self.secret = secret
        self.times = times
        challenges = HMACSHA256(
            key: try HKDFSHA256.derive(
                from: secret, salt: [], info: Array("assay challenge v1".utf8), count: HMACSHA256.byteCount))
        tokenTags = HMACSHA256(
            key: try HKDFSHA256.derive(
                from: secret, salt: [], info: Array("assay token tag v1".utf8), count: HMACSHA256.byteCount))
    }

    /// Makes a new random key.
    package static func generate(_ times: KeyTimes, randomness: Randomness) throws(CryptoError) -> SealingKey {
        var secret = randomness.bytes(32)
        defer { SecretBytes.wipe(&secret) }
        return try SealingKey(id: randomness.bytes(4), secret: SecretBytes(secret), times: times)
    }

    /// A digest that identifies the key and reveals nothing of it.
    package var digest: [UInt8] { challenges.authenticate(Array("assay key digest v1".utf8)[...]) }

    package var name: String { "the sealing key \(Hex.encode(id))" }

    func authenticate(_ bytes: [UInt8], for purpose: SealedPurpose) -> [UInt8] {
        challenges.authenticate(bytes[...], purpose.label[...])
    }

    func authenticates(_ bytes: [UInt8], for purpose: SealedPurpose, tag: ArraySlice<UInt8>) -> Bool {
        challenges.isValid(tag, for: bytes[...], purpose.label[...])
    }

    func seal(_ plaintext: [UInt8], for purpose: SealedPurpose, randomness: Randomness) throws(CryptoError) -> [UInt8] {
        // In bounds: a version, four bytes, and what is added here.
        let head = [SealingKey.version] + id + randomness.bytes(16 + AES256GCM.nonceByteCount)
        let box = try AES256GCM.seal(
            plaintext[...], key: try boxKey(salt: head[5..<21]), nonce: head[21..<33],
            authenticating: (head + purpose.label)[...])
        return head + box
    }

    /// The identifier of the key that a box names; nil when it is not a box.
    static func identifier(of sealed: [UInt8]) -> [UInt8]? {
        guard sealed.count > headCount, sealed[0] == version else { return nil }
        return Array(sealed[1..<5])
    }

    /// The plaintext of a box that one of the keys sealed for a purpose.
    static func open(_ sealed: [UInt8], for purpose: SealedPurpose, keys: [SealingKey]) -> [UInt8]? {
        guard sealed.count > headCount, sealed[0] == version else { return nil }
        let head = Array(sealed[..<headCount])
        // If the keys of two services were merged, two of them may share an identifier.
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

// MARK: - Tags of attesters in tokens

extension SealingKey {
    /// The bytes of a random `jti`.
    package static let tokenIDBytes = 32
    /// How many of them are random where the others hide a tag.
    private static let randomBytes = tokenIDBytes - AttesterTag.byteCount

    /// A `jti` of 24 random bytes and the tag of an attester, which is hidden by a code of the random ones under this key.
    ///
    /// Without the key it cannot be told from a random one, nor can two tokens of one attester be recognised as such.
    package func tokenID(for attester: AttesterTag, randomness: Randomness) -> String {
        let random = randomness.bytes(Self.randomBytes)
        return Base64.encodeURL(random + zip(mask(random[...]), attester.bytes).map { $0 ^ $1 })
    }

    /// The tag that a `jti` carries if it was made with this key, otherwise random bytes; nil when it has another length.
    package func attester(of id: [UInt8]) -> AttesterTag? {
        guard id.count == Self.tokenIDBytes else { return nil }
        return AttesterTag(zip(mask(id[..<Self.randomBytes]), id[Self.randomBytes...]).map { $0 ^ $1 })
    }

    private func mask(_ random: ArraySlice<UInt8>) -> [UInt8] {
        Array(tokenTags.authenticate(random).prefix(AttesterTag.byteCount))
    }
}

/// The app and the provider that something is sealed or authenticated for.
struct SealedPurpose: Sendable {
    /// The names, joined without ambiguity.
    let label: [UInt8]
    /// The first eight bytes of the label's hash.
    let tag: [UInt8]

    init(resource: String, provider: String) {
        let resource = Array(resource.utf8)
        label = UInt64(resource.count).bigEndianBytes + resource + Array(provider.utf8)
        tag = Array(SHA256.hash(label).prefix(8))
    }
}
