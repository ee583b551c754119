public import AssayCore
public import AssayCrypto
internal import AssayEngine
public import AssayKit

/// A master key in the memory of this process, from a file or an environment variable.
public struct LocalMasterKey: MasterKey {
    /// The identifier.
    public let id: MasterKeyID
    private let key: SecretBytes
    private let randomness: Randomness

    /// - Parameter key: 32 random bytes.
    /// - Throws: `KeyVaultError` for another number of bytes.
    public init(_ key: SecretBytes, randomness: Randomness = .system) throws(KeyVaultError) {
        guard key.count == AES256GCM.keyByteCount else {
            throw KeyVaultError("a master key has \(AES256GCM.keyByteCount) bytes, not \(key.count)")
        }
        self.key = key
        self.randomness = randomness
        id = try MasterCipher.identifier(try Self.seal(MasterCipher.identification, key))
    }

    /// Encrypts a data key by AES-256-GCM.
    public func wrap(_ key: SecretBytes, for purpose: [UInt8]) async throws(KeyVaultError) -> [UInt8] {
        let work = MasterCipher.wrapping(key, for: purpose, id: id, randomness: randomness)
        return work.nonce + (try Self.seal(work, self.key))
    }

    /// Decrypts a data key.
    public func unwrap(_ wrapping: [UInt8], for purpose: [UInt8]) async throws(KeyVaultError) -> SecretBytes {
        let work = try MasterCipher.unwrapping(wrapping, for: purpose, id: id)
        guard
            var bytes = try? AES256GCM.open(
                work.bytes[...], key: key, nonce: work.nonce[...], authenticating: work.associated[...])
        else { throw KeyVaultError("the data key that the master key \(id) wrapped is damaged") }
        defer { SecretBytes.wipe(&bytes) }
        return SecretBytes(bytes)
    }

    private static func seal(_ work: MasterCipher.Work, _ key: SecretBytes) throws(KeyVaultError) -> [UInt8] {
        do throws(CryptoError) {
            return try AES256GCM.seal(
                work.bytes[...], key: key, nonce: work.nonce[...], authenticating: work.associated[...])
        } catch {
            throw KeyVaultError("the master key cannot be used: \(error.description)")
        }
    }
}

/// The texts and bytes in which a master key is kept.
enum MasterKeyText {
    /// The largest file that can be one.
    static let sizeLimit = 1024

    /// The key of a file or a variable: 32 bytes, or their Base64 or hexadecimal text.
    static func key(_ reference: SecretReference, from secrets: SecretSource) throws(KeyVaultError) -> SecretBytes {
        var bytes: [UInt8]
        do throws(SecretError) {
            guard let found = try secrets.resolve(reference) else {
                throw SecretError("\(reference) has no master key")
            }
            bytes = found
            // Line ends are left out, but a random key may end with such a byte.
            if bytes.count < AES256GCM.keyByteCount, case .file(let path) = reference.place,
                let whole = try? SecretFile.read(path, limit: sizeLimit), whole.count == AES256GCM.keyByteCount
            {
                bytes = whole
            }
        } catch {
            throw KeyVaultError(error.message)
        }
        defer { SecretBytes.wipe(&bytes) }
        guard let key = decode(bytes) else {
            throw KeyVaultError(
                "\(reference) is no master key: expected 32 random bytes, or their Base64 or hexadecimal text")
        }
        return key
    }

    static func decode(_ bytes: [UInt8]) -> SecretBytes? {
        if bytes.count == AES256GCM.keyByteCount {
            // A password, and not random bytes.
            let isText = bytes.allSatisfy { (UInt8(ascii: " ")...UInt8(ascii: "~")).contains($0) }
            return isText ? nil : SecretBytes(bytes)
        }
        guard bytes.count < 100 else { return nil }
        let text = Array(bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
        var decoded =
            Hex.decode(String(decoding: text, as: UTF8.self)) ?? Base64.decode(utf8: text)
            ?? Base64.decodeURL(utf8: text[...]) ?? []
        defer { SecretBytes.wipe(&decoded) }
        return decoded.count == AES256GCM.keyByteCount ? SecretBytes(decoded) : nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") || byte == 9
    }
}
