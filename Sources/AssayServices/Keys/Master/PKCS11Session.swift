internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import CPKCS11

/// A session with a token, in which its key is found and used.
struct PKCS11Session {
    let functions: UnsafePointer<assay_p11_module>
    let number: assay_p11_number
    let uri: PKCS11URI

    private static let secretKey: assay_p11_number = 4
    private static let aes: assay_p11_number = 0x1F

    /// The names of the attributes of a key.
    private enum Attribute: assay_p11_number {
        case objectClass = 0
        case token = 1
        case isPrivate = 2
        case label = 3
        case keyType = 0x100
        case id = 0x102
        case sensitive = 0x103
        case encrypt = 0x104
        case decrypt = 0x105
        case valueSize = 0x161
        case extractable = 0x162
    }

    /// The only key that the URI names; nil when there is none.
    func find() throws(KeyVaultError) -> assay_p11_number? {
        var template = Template()
        template.add(Attribute.objectClass.rawValue, Self.secretKey)
        template.add(Attribute.keyType.rawValue, Self.aes)
        add(names: &template)
        var objects: [assay_p11_number] = [0, 0]
        var count = assay_p11_number(objects.count)
        let result = template.withAttributes { attributes, size in
            assay_p11_find(functions, number, attributes, size, &objects, &count)
        }
        try PKCS11Module.check(result, "find the key in")
        guard count <= 1 else { throw KeyVaultError("\(uri): there are several such keys: add id=…") }
        return count == 1 ? objects.first : nil
    }

    /// The only key that the URI names.
    func key() throws(KeyVaultError) -> assay_p11_number {
        guard let key = try find() else { throw KeyVaultError("\(uri): the token has no such AES key") }
        return key
    }

    /// Makes a new AES-256 key that never leaves the token.
    func generate() throws(KeyVaultError) {
        guard try find() == nil else { throw KeyVaultError("\(uri) exists already: nothing was made") }
        var template = Template()
        template.add(Attribute.objectClass.rawValue, Self.secretKey)
        template.add(Attribute.keyType.rawValue, Self.aes)
        template.add(Attribute.valueSize.rawValue, assay_p11_number(AES256GCM.keyByteCount))
        for attribute in [Attribute.token, .isPrivate, .sensitive, .encrypt, .decrypt] {
            template.add(attribute.rawValue, [1])
        }
        template.add(Attribute.extractable.rawValue, [0])
        add(names: &template)
        // CKM_AES_KEY_GEN
        var mechanism = assay_p11_mechanism(type: 0x1080, parameter: nil, size: 0)
        var key: assay_p11_number = 0
        let result = template.withAttributes { attributes, size in
            assay_p11_generate(functions, number, &mechanism, attributes, size, &key)
        }
        try PKCS11Module.check(result, "make a key in")
    }

    private func add(names template: inout Template) {
        if let object = uri.object { template.add(Attribute.label.rawValue, Array(object.utf8)) }
        if let id = uri.id { template.add(Attribute.id.rawValue, id) }
    }

    /// Encrypts by AES-GCM: `ciphertext ‖ tag`; or decrypts that.
    func crypt(
        _ work: MasterCipher.Work, encrypts: Bool, key: assay_p11_number
    ) throws(KeyVaultError) -> [UInt8] {
        var (nonce, associated, bytes) = (work.nonce, work.associated, work.bytes)
        defer { SecretBytes.wipe(&bytes) }
        // Room for what a module may write more before it says how much it was.
        var output = [UInt8](repeating: 0, count: work.bytes.count + 64)
        defer { SecretBytes.wipe(&output) }
        var count = assay_p11_number(output.count)
        let result = nonce.withUnsafeMutableBufferPointer { nonce in
            associated.withUnsafeMutableBufferPointer { associated in
                var parameter = assay_p11_gcm(
                    nonce: nonce.baseAddress, nonce_size: assay_p11_number(nonce.count),
                    nonce_bits: assay_p11_number(nonce.count * 8), associated: associated.baseAddress,
                    associated_size: assay_p11_number(associated.count),
                    tag_bits: assay_p11_number(AES256GCM.tagByteCount * 8))
                return withUnsafeMutablePointer(to: &parameter) { parameter in
                    // CKM_AES_GCM
                    var mechanism = assay_p11_mechanism(
                        type: 0x1087, parameter: parameter,
                        size: assay_p11_number(MemoryLayout<assay_p11_gcm>.size))
                    return assay_p11_crypt(
                        functions, encrypts ? 1 : 0, number, &mechanism, key, bytes, assay_p11_number(bytes.count),
                        &output, &count)
                }
            }
        }
        try PKCS11Module.check(result, encrypts ? "encrypt by" : "decrypt by")
        return Array(output.prefix(Int(clamping: count)))
    }
}

/// Attributes of an object, with their values.
private struct Template {
    private var values: [(type: assay_p11_number, bytes: [UInt8])] = []

    mutating func add(_ type: assay_p11_number, _ bytes: [UInt8]) {
        values.append((type, bytes))
    }

    mutating func add(_ type: assay_p11_number, _ number: assay_p11_number) {
        add(type, withUnsafeBytes(of: number) { Array($0) })
    }

    func withAttributes(
        _ body: (UnsafeMutablePointer<assay_p11_attribute>?, assay_p11_number) -> assay_p11_number
    ) -> assay_p11_number {
        var all = values.flatMap(\.bytes)
        return all.withUnsafeMutableBytes { all in
            var (attributes, offset): ([assay_p11_attribute], Int) = ([], 0)
            for value in values {
                attributes.append(
                    assay_p11_attribute(
                        type: value.type, value: all.baseAddress.map { $0 + offset },
                        size: assay_p11_number(value.bytes.count)))
                offset += value.bytes.count
            }
            return attributes.withUnsafeMutableBufferPointer { body($0.baseAddress, assay_p11_number($0.count)) }
        }
    }
}
