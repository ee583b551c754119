internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayKit

/// An encrypted document of keys, as the state store has it: by which master keys its data key is wrapped, and the
/// document under the data key.
///
///     "AKV" ‖ 1 ‖ count 1 ‖ count × (master key 8 ‖ size 2 ‖ wrapping) ‖ nonce 12 ‖ tail's name 16 ‖ tail's size 4 ‖ box
///
/// A box that would make the entry larger than a store has to accept continues in an entry of its own, the tail, which is
/// empty otherwise. Everything before the box is authenticated with it, and the version of the entry, so that neither an
/// older box nor another list of master keys can be put in its place.
struct WrappedDocument: Sendable {
    /// A data key under one master key.
    struct Wrapping: Sendable, Equatable {
        let id: MasterKeyID
        let bytes: [UInt8]
    }

    /// What every store accepts.
    static let entryLimit = 1 << 20
    /// The largest document.
    static let documentLimit = 1 << 20
    static let wrappingLimit = 8
    static let tailNameCount = 16
    /// What the data key is for.
    static let purpose = Array("assay key vault data key v1".utf8)

    private static let mark = Array("AKV".utf8) + [1]
    private static let boxPurpose = Array("assay key vault document v1".utf8)

    let wrappings: [Wrapping]
    let nonce: [UInt8]
    let tail: (name: [UInt8], count: Int)
    /// The box, or its beginning.
    let box: [UInt8]
    private let head: [UInt8]

    /// Encrypts a document.
    ///
    /// - Returns: also the tail's bytes, which may be none.
    static func seal(
        _ document: [UInt8], version: UInt64, key: SecretBytes, wrappings: [Wrapping], randomness: Randomness
    ) throws(KeyVaultError) -> (WrappedDocument, tail: [UInt8]) {
        guard document.count <= documentLimit else {
            throw KeyVaultError("a document of keys has at most \(documentLimit) bytes, not \(document.count)")
        }
        guard !wrappings.isEmpty, wrappings.count <= wrappingLimit,
            wrappings.allSatisfy({ $0.bytes.count <= MasterKeyID.wrappingLimit })
        else { throw KeyVaultError("at most \(wrappingLimit) master keys can wrap the keys") }
        var head = mark + [UInt8(wrappings.count)]
        for wrapping in wrappings {
            head += wrapping.id.bytes + [UInt8(wrapping.bytes.count >> 8), UInt8(wrapping.bytes.count & 0xFF)]
            head += wrapping.bytes
        }
        let nonce = randomness.bytes(AES256GCM.nonceByteCount)
        head += nonce
        let size = document.count + AES256GCM.tagByteCount
        let room = entryLimit - head.count - tailNameCount - 4
        let tailCount = max(0, size - room)
        let name = tailCount > 0 ? randomness.bytes(tailNameCount) : [UInt8](repeating: 0, count: tailNameCount)
        head += name + UInt64(tailCount).bigEndianBytes.suffix(4)
        let box: [UInt8]
        do throws(CryptoError) {
            box = try AES256GCM.seal(
                document[...], key: key, nonce: nonce[...],
                authenticating: (boxPurpose + version.bigEndianBytes + head)[...])
        } catch {
            throw KeyVaultError("the keys cannot be encrypted: \(error.description)")
        }
        return (
            WrappedDocument(
                wrappings: wrappings, nonce: nonce, tail: (name, tailCount), box: Array(box.dropLast(tailCount)),
                head: head), Array(box.suffix(tailCount))
        )
    }

    /// The entry's value.
    var encoded: [UInt8] { head + box }

    private init(wrappings: [Wrapping], nonce: [UInt8], tail: (name: [UInt8], count: Int), box: [UInt8], head: [UInt8])
    {
        self.wrappings = wrappings
        self.nonce = nonce
        self.tail = tail
        self.box = box
        self.head = head
    }

    /// An entry's value; nil when it is none.
    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        func take(_ count: Int) -> ArraySlice<UInt8>? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        guard let mark = take(Self.mark.count), mark.elementsEqual(Self.mark), let count = take(1)?.first,
            (1...UInt8(Self.wrappingLimit)).contains(count)
        else { return nil }
        var wrappings: [Wrapping] = []
        for _ in 0..<count {
            guard let id = take(MasterKeyID.byteCount).flatMap({ MasterKeyID($0) }), let size = take(2),
                let high = size.first, let low = size.last, let wrapping = take(Int(high) << 8 | Int(low)),
                wrapping.count <= MasterKeyID.wrappingLimit
            else { return nil }
            wrappings.append(Wrapping(id: id, bytes: Array(wrapping)))
        }
        guard let nonce = take(AES256GCM.nonceByteCount), let name = take(Self.tailNameCount), let size = take(4)
        else { return nil }
        let tailCount = size.reduce(0) { $0 << 8 | Int($1) }
        guard tailCount <= Self.documentLimit, rest.count + tailCount >= AES256GCM.tagByteCount else { return nil }
        self.init(
            wrappings: wrappings, nonce: Array(nonce), tail: (Array(name), tailCount), box: Array(rest),
            head: Array(bytes.dropLast(rest.count)))
    }

    /// The document.
    ///
    /// - Throws: when anything of it is another than was written.
    func open(version: UInt64, key: SecretBytes, tail: [UInt8]) throws(KeyVaultError) -> [UInt8] {
        let associated = Self.boxPurpose + version.bigEndianBytes + head
        do throws(CryptoError) {
            return try AES256GCM.open(
                (box + tail)[...], key: key, nonce: nonce[...], authenticating: associated[...])
        } catch {
            throw KeyVaultError("the stored keys are damaged: they cannot be decrypted")
        }
    }

    /// The wrapping by a master key.
    func wrapping(by id: MasterKeyID) -> Wrapping? { wrappings.first { $0.id == id } }
}
