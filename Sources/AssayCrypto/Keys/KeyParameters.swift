internal import CLibCrypto

/// The parts of a key under OpenSSL's names; their bytes are wiped at the end.
struct KeyParameters: ~Copyable {
    private var parameters: [OSSL_PARAM] = []
    // OpenSSL keeps pointers to names and values until the key is made, so both need an address that stays.
    private var memory: [UnsafeMutableRawBufferPointer] = []

    deinit {
        for piece in memory {
            OPENSSL_cleanse(piece.baseAddress, piece.count)
            piece.deallocate()
        }
    }

    /// Adds a text.
    mutating func add(_ name: String, text: String) {
        let value = keep(Array(text.utf8CString).map { UInt8(bitPattern: $0) })
            .assumingMemoryBound(to: CChar.self)
        parameters.append(OSSL_PARAM_construct_utf8_string(keepName(name), value, 0))
    }

    /// Adds bytes.
    mutating func add(_ name: String, octets: [UInt8]) {
        parameters.append(OSSL_PARAM_construct_octet_string(keepName(name), keep(octets), octets.count))
    }

    /// Adds a natural number, given in big-endian bytes.
    mutating func add(_ name: String, number: [UInt8]) {
        // OpenSSL reads numbers in the byte order of the machine.
        var native = 1.littleEndian == 1 ? Array(number.reversed()) : number
        defer { SecretBytes.wipe(&native) }
        let count = native.count
        let value = keep(native).assumingMemoryBound(to: UInt8.self)
        parameters.append(OSSL_PARAM_construct_BN(keepName(name), value, count))
    }

    /// Makes a key of a type (`RSA` or `EC`).
    consuming func makeKey(type: String, isPrivate: Bool) throws(CryptoError) -> KeyHandle {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else {
            throw .fromQueue(.operationFailed, "OpenSSL offers no keys of type \(type)")
        }
        defer { EVP_PKEY_CTX_free(context) }
        parameters.append(OSSL_PARAM_construct_end())
        let selection =
            OSSL_KEYMGMT_SELECT_ALL_PARAMETERS | OSSL_KEYMGMT_SELECT_PUBLIC_KEY
            | (isPrivate ? OSSL_KEYMGMT_SELECT_PRIVATE_KEY : 0)
        var key: OpaquePointer?
        guard EVP_PKEY_fromdata_init(context) == 1,
            EVP_PKEY_fromdata(context, &key, selection, &parameters) == 1, let key
        else {
            throw .fromQueue(.invalidKey, "not an \(type) key")
        }
        return KeyHandle(owning: key)
    }

    private mutating func keepName(_ name: String) -> UnsafePointer<CChar> {
        UnsafePointer(keep(Array(name.utf8CString).map { UInt8(bitPattern: $0) }).assumingMemoryBound(to: CChar.self))
    }

    private mutating func keep(_ bytes: [UInt8]) -> UnsafeMutableRawPointer {
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 16)
        piece.copyBytes(from: bytes)
        memory.append(piece)
        return piece.baseAddress.unsafelyUnwrapped
    }
}

extension KeyHandle {
    /// A natural number of the key in big-endian bytes, without leading zeros; nil when it has none of that name.
    func number(_ name: String) -> [UInt8]? {
        var number: OpaquePointer?
        defer { BN_clear_free(number) }
        guard EVP_PKEY_get_bn_param(pointer, name, &number) == 1, let number else {
            ERR_clear_error()
            return nil
        }
        let count = (Int(BN_num_bits(number)) + 7) / 8
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            BN_bn2bin(number, buffer.baseAddress)
            written = count
        }
    }

    /// The name of the key's curve; nil when it has none.
    var groupName: String? {
        var buffer = [CChar](repeating: 0, count: 64)
        var count = 0
        guard EVP_PKEY_get_group_name(pointer, &buffer, buffer.count, &count) == 1 else {
            ERR_clear_error()
            return nil
        }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
