internal import AssayCrypto
internal import AssayKit

/// How a ring is written down: one JSON object, so that a change of keys is one file that is replaced.
extension KeyRing {
    private static let version: Int64 = 1
    private static let limits = JSON.Limits(bytes: 4 << 20, depth: 8, values: 65_536, allowsRepeatedNames: false)

    func encoded() throws(CryptoError) -> [UInt8] {
        var signing: [JSON] = []
        for key in self.signing {
            let pem = try key.key.pem().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            signing.append([
                "kid": .string(key.id), "alg": .string(key.algorithm.rawValue),
                "created": .string(key.created.description),
                "retired": key.retired.map { .string($0.description) } ?? .null, "pem": .string(pem),
            ])
        }
        let sealing = self.sealing.map { key -> JSON in
            [
                "id": .string(Hex.encode(key.id)), "created": .string(key.created.description),
                "secret": .string(key.secret.withUnsafeBytes { Base64.encode($0) }),
            ]
        }
        return JSON.object([
            "version": .integer(KeyRing.version), "signing": .array(signing), "sealing": .array(sealing),
        ])
        .encoded
    }

    /// - Throws: ``KeyError`` that says which key is wrong, and nothing of what is in it.
    init(decoding bytes: [UInt8]) throws(KeyError) {
        guard let file = try? JSON.parse(bytes, limits: KeyRing.limits), let version = file["version"]?.integer else {
            throw KeyError("not a file of keys: it is damaged, or something else")
        }
        guard version == KeyRing.version else { throw KeyError("version \(version) of the file is not known") }
        // To take what is missing for nothing would put new keys in the place of those that clients depend on.
        guard let signingKeys = file["signing"]?.array, let sealingKeys = file["sealing"]?.array, !sealingKeys.isEmpty
        else { throw KeyError("the file has lost its keys: it is damaged") }
        var signing: [SigningKey] = []
        for entry in signingKeys { signing.append(try KeyRing.signingKey(entry)) }
        var sealing: [SealingKey] = []
        for entry in sealingKeys { sealing.append(try KeyRing.sealingKey(entry)) }
        self.init(signing: signing, sealing: sealing)
    }

    private static func signingKey(_ entry: JSON) throws(KeyError) -> SigningKey {
        let name = "the signing key '\(SafeText.of(entry["kid"]?.string ?? "", limit: 20))'"
        guard let pem = entry["pem"]?.string,
            let algorithm = entry["alg"]?.string.flatMap(JWSAlgorithm.init(rawValue:)),
            let created = entry["created"]?.string.flatMap({ Instant(rfc3339: $0) })
        else { throw KeyError("\(name) is malformed") }
        var retired: Instant?
        if let value = entry["retired"], value != .null {
            retired = value.string.flatMap { Instant(rfc3339: $0) }
            guard retired != nil else { throw KeyError("\(name) is malformed") }
        }
        let key: SigningKey
        do throws(CryptoError) {
            key = try SigningKey(
                algorithm: algorithm, key: PrivateKey(pem: Array(pem.utf8)), created: created, retired: retired)
        } catch {
            throw KeyError("\(name) cannot be used: \(error.message)")
        }
        guard key.id == entry["kid"]?.string else { throw KeyError("\(name) has another key's identifier") }
        return key
    }

    private static func sealingKey(_ entry: JSON) throws(KeyError) -> SealingKey {
        let name = "the sealing key '\(SafeText.of(entry["id"]?.string ?? "", limit: 20))'"
        guard let id = entry["id"]?.string.flatMap({ Hex.decode($0) }), id.count == 4,
            let created = entry["created"]?.string.flatMap({ Instant(rfc3339: $0) }),
            var secret = entry["secret"]?.string.flatMap({ Base64.decode($0) }), secret.count == 32
        else { throw KeyError("\(name) is malformed") }
        defer { SecretBytes.wipe(&secret) }
        do throws(CryptoError) {
            return try SealingKey(id: id, secret: SecretBytes(secret), created: created)
        } catch {
            throw KeyError("\(name) cannot be used: \(error.message)")
        }
    }
}
