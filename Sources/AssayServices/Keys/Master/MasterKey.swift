internal import AssayCore
public import AssayCrypto
internal import AssayEngine
public import AssayKit

/// A key that wraps the data keys of a ``StateKeyVault``, and that is kept elsewhere: in a file, or in a token that it
/// never leaves.
///
/// `Registry.openMasterKey(_:host:)` opens those that come with it. A program may have its own, for example a key of a
/// cloud's key service.
public protocol MasterKey: Sendable {
    /// The identifier; the same for the same key wherever it is.
    var id: MasterKeyID { get }

    /// Encrypts and authenticates a data key.
    ///
    /// - `purpose`: authenticated with it: what was wrapped for another purpose does not unwrap.
    /// - Returns: at most ``MasterKeyID/wrappingLimit`` bytes.
    func wrap(_ key: SecretBytes, for purpose: [UInt8]) async throws(KeyVaultError) -> [UInt8]

    /// The data key that ``wrap(_:for:)`` wrapped.
    ///
    /// - Throws: `KeyVaultError` also for bytes that another key wrapped, or for another purpose.
    func unwrap(_ wrapping: [UInt8], for purpose: [UInt8]) async throws(KeyVaultError) -> SecretBytes
}

/// The identifier of a master key: eight bytes that can be computed only with the key, and reveal nothing of it.
public struct MasterKeyID: Sendable, Hashable, CustomStringConvertible {
    /// The number of bytes.
    public static let byteCount = 8
    /// The most bytes that a master key makes of a data key.
    static let wrappingLimit = 1024

    let bytes: [UInt8]

    /// An identifier from its 8 bytes; nil for another number of bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// An identifier as `assay keys wrap list` shows it; nil for other texts.
    public init?(_ text: String) {
        guard let bytes = Hex.decode(text) else { return nil }
        self.init(bytes)
    }

    /// 16 hexadecimal digits.
    public var description: String { Hex.encode(bytes) }
}

/// What all master keys do that encrypt by AES-256-GCM, wherever they are.
struct MasterCipher: Sendable {
    /// One use of the key: a nonce, the bytes, and what is authenticated with them.
    struct Work: Sendable {
        let nonce: [UInt8]
        let bytes: [UInt8]
        let associated: [UInt8]
    }

    private static let idPurpose = Array("assay master key identifier v1".utf8)
    private static let wrapPurpose = Array("assay master key wrapping v1".utf8)

    /// The work that gives the identifier.
    ///
    /// Always the same bytes under the same nonce, which no random nonce equals but for one in 2^96.
    static var identification: Work {
        Work(
            nonce: [UInt8](repeating: 0xFF, count: AES256GCM.nonceByteCount),
            bytes: [UInt8](repeating: 0, count: AES256GCM.keyByteCount), associated: idPurpose)
    }

    /// The identifier from the result of ``identification``.
    static func identifier(_ sealed: [UInt8]) throws(KeyVaultError) -> MasterKeyID {
        guard sealed.count == AES256GCM.keyByteCount + AES256GCM.tagByteCount,
            let id = MasterKeyID(SHA256.hash(sealed).prefix(MasterKeyID.byteCount))
        else { throw KeyVaultError("the master key does not encrypt by AES-256-GCM as it should") }
        return id
    }

    /// The work that wraps a data key.
    static func wrapping(
        _ key: SecretBytes, for purpose: [UInt8], id: MasterKeyID, randomness: Randomness
    ) -> Work {
        Work(
            nonce: randomness.bytes(AES256GCM.nonceByteCount), bytes: key.withUnsafeBytes { Array($0) },
            associated: wrapPurpose + id.bytes + purpose)
    }

    /// The work that unwraps it.
    static func unwrapping(_ wrapping: [UInt8], for purpose: [UInt8], id: MasterKeyID) throws(KeyVaultError) -> Work {
        let count = AES256GCM.nonceByteCount + AES256GCM.keyByteCount + AES256GCM.tagByteCount
        guard wrapping.count == count else { throw KeyVaultError("a data key is wrapped in an unknown way") }
        return Work(
            nonce: Array(wrapping.prefix(AES256GCM.nonceByteCount)),
            bytes: Array(wrapping.dropFirst(AES256GCM.nonceByteCount)), associated: wrapPurpose + id.bytes + purpose)
    }
}
