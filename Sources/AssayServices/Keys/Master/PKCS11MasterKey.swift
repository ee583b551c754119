internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayKit

/// A master key in a token (PKCS #11), which it never leaves: the token encrypts and decrypts data keys.
///
/// Each use opens a session and logs in, so that a token that was away is used again by itself.
struct PKCS11MasterKey: MasterKey {
    let id: MasterKeyID
    private let uri: PKCS11URI
    private let host: StorageHost

    private init(_ id: MasterKeyID, _ uri: PKCS11URI, _ host: StorageHost) {
        self.id = id
        self.uri = uri
        self.host = host
    }

    static func open(_ uri: PKCS11URI, host: StorageHost) async throws(KeyVaultError) -> PKCS11MasterKey {
        let sealed = try await session(uri, host) { (session) throws(KeyVaultError) in
            try session.crypt(MasterCipher.identification, encrypts: true, key: try session.key())
        }
        return PKCS11MasterKey(try MasterCipher.identifier(sealed), uri, host)
    }

    static func create(_ uri: PKCS11URI, host: StorageHost) async throws(KeyVaultError) -> PKCS11MasterKey {
        guard !uri.object.isNil else { throw KeyVaultError("pkcs11: a new key needs a label: object=LABEL") }
        try await session(uri, host, writes: true) { (session) throws(KeyVaultError) in try session.generate() }
        return try await open(uri, host: host)
    }

    func wrap(_ key: SecretBytes, for purpose: [UInt8]) async throws(KeyVaultError) -> [UInt8] {
        let work = MasterCipher.wrapping(key, for: purpose, id: id, randomness: host.randomness)
        let sealed = try await Self.session(uri, host) { (session) throws(KeyVaultError) in
            try session.crypt(work, encrypts: true, key: try session.key())
        }
        guard sealed.count == work.bytes.count + AES256GCM.tagByteCount else {
            throw KeyVaultError("\(uri): the token does not encrypt by AES-256-GCM as it should")
        }
        return work.nonce + sealed
    }

    func unwrap(_ wrapping: [UInt8], for purpose: [UInt8]) async throws(KeyVaultError) -> SecretBytes {
        let work = try MasterCipher.unwrapping(wrapping, for: purpose, id: id)
        let key = try await Self.session(uri, host) { (session) throws(KeyVaultError) in
            var bytes = try session.crypt(work, encrypts: false, key: try session.key())
            defer { SecretBytes.wipe(&bytes) }
            return SecretBytes(bytes)
        }
        guard key.count == AES256GCM.keyByteCount else {
            throw KeyVaultError("the data key that the master key \(id) wrapped is damaged")
        }
        return key
    }

    private static func session<Value: Sendable>(
        _ uri: PKCS11URI, _ host: StorageHost, writes: Bool = false,
        _ work: @escaping @Sendable (PKCS11Session) throws(KeyVaultError) -> Value
    ) async throws(KeyVaultError) -> Value {
        let pin = try uri.pin.map { (reference) throws(KeyVaultError) -> SecretBytes in
            do throws(SecretError) {
                guard var pin = try host.secrets.resolve(reference) else {
                    throw SecretError("\(reference) has no PIN")
                }
                defer { SecretBytes.wipe(&pin) }
                return SecretBytes(pin)
            } catch {
                throw KeyVaultError(error.message)
            }
        }
        return try await PKCS11Module.run(uri.module, clock: host.clock) { (module) throws(KeyVaultError) in
            try module.withSession(uri, pin: pin, writes: writes, work)
        }
    }
}
