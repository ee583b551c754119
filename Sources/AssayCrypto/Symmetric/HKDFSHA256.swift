/// Key derivation by HKDF with SHA-256 (RFC 5869).
public enum HKDFSHA256: Sendable {
    /// The most that can be derived, in bytes: 255 blocks.
    public static let maximumByteCount = 255 * HMACSHA256.byteCount

    /// Extracts a pseudorandom key of 32 bytes (RFC 5869, section 2.2); no salt is a salt of 32 zeros.
    public static func extract(salt: some Collection<UInt8>, inputKeyMaterial: SecretBytes) -> SecretBytes {
        let salt = salt.isEmpty ? [UInt8](repeating: 0, count: HMACSHA256.byteCount) : Array(salt)
        let authenticator = HMACSHA256(key: salt)
        var material = inputKeyMaterial.withUnsafeBytes { Array($0) }
        defer { SecretBytes.wipe(&material) }
        return authenticator.secret([material[...]])
    }

    /// Expands a pseudorandom key to `count` bytes (RFC 5869, section 2.3).
    ///
    /// - Throws: ``CryptoError`` (`invalid_argument`) unless `count` is in 1...8160.
    public static func expand(
        pseudorandomKey: SecretBytes, info: some Collection<UInt8>, count: Int
    ) throws(CryptoError) -> SecretBytes {
        guard (1...maximumByteCount).contains(count) else {
            throw CryptoError(.invalidArgument, "HKDF derives 1 to \(maximumByteCount) bytes, not \(count)")
        }
        let authenticator = HMACSHA256(key: pseudorandomKey)
        let info = Array(info)
        var output: [UInt8] = []
        output.reserveCapacity(count + HMACSHA256.byteCount)
        var block: [UInt8] = []
        defer {
            SecretBytes.wipe(&output)
            SecretBytes.wipe(&block)
        }
        var counter: UInt8 = 0
        while output.count < count {
            counter += 1
            var next = authenticator.authenticate(block[...], info[...], [counter])
            output.append(contentsOf: next)
            swap(&block, &next)
            SecretBytes.wipe(&next)
        }
        return SecretBytes(output.prefix(count))
    }

    /// Extracts and expands in one step: `count` bytes for the purpose that `info` names.
    ///
    /// - Throws: ``CryptoError`` (`invalid_argument`) unless `count` is in 1...8160.
    public static func derive(
        from inputKeyMaterial: SecretBytes, salt: some Collection<UInt8>, info: some Collection<UInt8>, count: Int
    ) throws(CryptoError) -> SecretBytes {
        try expand(
            pseudorandomKey: extract(salt: salt, inputKeyMaterial: inputKeyMaterial), info: info, count: count)
    }
}
