internal import AssayCore
internal import AssayCrypto
internal import AssayEngine

/// How a ring is stored: one JSON object, so that a change of keys replaces one file.
extension KeyRing {
    /// The version that is written and read.
    private static let version: Int64 = 2
    private static let limits = JSON.Limits(bytes: 4 << 20, depth: 8, values: 65_536, allowsRepeatedNames: false)

    func encoded() throws(KeyError) -> [UInt8] {
        var signing: [JSON] = []
        for key in self.signing {
            let pem = try KeyError.explaining { () throws(CryptoError) in
                try key.key.pem().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            }
            let members = [JSONMember("kid", .string(key.id)), JSONMember("alg", .string(key.algorithm.rawValue))]
            signing.append(.object(members + KeyRing.members(key.times) + [JSONMember("pem", .string(pem))]))
        }
        let sealing = self.sealing.map { key -> JSON in
            let secret = key.secret.withUnsafeBytes { Base64.encode($0) }
            return .object(
                [JSONMember("id", .string(Hex.encode(key.id)))] + KeyRing.members(key.times)
                    + [JSONMember("secret", .string(secret))])
        }
        return JSON.object([
            "version": .integer(KeyRing.version), "signing": .array(signing), "sealing": .array(sealing),
        ])
        .encoded
    }

    /// - Throws: `KeyError` that names the wrong key, and nothing of its content.
    init(decoding bytes: [UInt8]) throws(KeyError) {
        self.init()
        guard let file = try? JSON.parse(bytes, limits: KeyRing.limits), let version = file["version"]?.integer else {
            throw KeyError("the file is damaged, or is not a file of keys")
        }
        guard version <= KeyRing.version else {
            throw KeyError("written by a later release (version \(version), this one knows up to \(KeyRing.version))")
        }
        guard version == KeyRing.version else { throw KeyError("version \(version) of the file is not read") }
        // To read missing keys as none would replace the keys that clients depend on.
        guard let signingKeys = file["signing"]?.array, let sealingKeys = file["sealing"]?.array, !sealingKeys.isEmpty
        else { throw KeyError("the file has lost its keys: it is damaged") }
        for entry in signingKeys { signing.append(try KeyRing.signingKey(entry)) }
        for entry in sealingKeys { sealing.append(try KeyRing.sealingKey(entry)) }
    }

    private static func members(_ times: KeyTimes) -> [JSONMember] {
        func time(_ instant: Instant?) -> JSON { instant.map { .string($0.description) } ?? .null }
        return [
            JSONMember("created", time(times.created)), JSONMember("ready", time(times.ready)),
            JSONMember("begins", time(times.begins)), JSONMember("retired", time(times.retired)),
            JSONMember("revoked", time(times.revoked)),
        ]
    }

    private static func times(_ entry: JSON) -> KeyTimes? {
        // A time that is missing does not mean "never": that would bring a retired key back.
        guard case .time(let created) = Moment(entry["created"]), case .time(let ready) = Moment(entry["ready"]),
            let begins = Moment(entry["begins"]),
            let retired = Moment(entry["retired"]), let revoked = Moment(entry["revoked"])
        else { return nil }
        return KeyTimes(
            created: created, ready: ready, begins: begins.instant, retired: retired.instant, revoked: revoked.instant)
    }

    private static func signingKey(_ entry: JSON) throws(KeyError) -> SigningKey {
        let name = "the signing key '\(SafeText.of(entry["kid"]?.string ?? "", limit: 20))'"
        guard let pem = entry["pem"]?.string,
            let algorithm = entry["alg"]?.string.flatMap({ JWSAlgorithm(exactly: $0) }),
            let times = times(entry)
        else { throw KeyError("\(name) is malformed") }
        let key: SigningKey
        do throws(CryptoError) {
            key = try SigningKey(algorithm: algorithm, key: PrivateKey(pem: Array(pem.utf8)), times: times)
        } catch {
            throw KeyError("\(name) cannot be used: \(error.message)")
        }
        guard (entry["kid"]?.string).isExactly(key.id) else { throw KeyError("\(name) has another key's identifier") }
        return key
    }

    private static func sealingKey(_ entry: JSON) throws(KeyError) -> SealingKey {
        let name = "the sealing key '\(SafeText.of(entry["id"]?.string ?? "", limit: 20))'"
        guard let id = entry["id"]?.string.flatMap({ Hex.decode($0) }), id.count == 4,
            let times = times(entry),
            var secret = entry["secret"]?.string.flatMap({ Base64.decode($0) }), secret.count == 32
        else { throw KeyError("\(name) is malformed") }
        defer { SecretBytes.wipe(&secret) }
        do throws(CryptoError) {
            return try SealingKey(id: id, secret: SecretBytes(secret), times: times)
        } catch {
            throw KeyError("\(name) cannot be used: \(error.message)")
        }
    }
}

/// A stored time, or the stored statement that no time is set.
private enum Moment {
    case time(Instant)
    case never

    /// Nil for a value that is neither a time nor `null`.
    init?(_ value: JSON?) {
        switch value {
        case .null?: self = .never
        case .string(let text)?:
            guard let instant = Instant(rfc3339: text) else { return nil }
            self = .time(instant)
        default: return nil
        }
    }

    var instant: Instant? {
        if case .time(let instant) = self { instant } else { nil }
    }
}
