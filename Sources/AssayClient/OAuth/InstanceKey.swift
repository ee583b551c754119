/// The key of an app's instance: P-256, signs by ECDSA with SHA-256 (`ES256`).
///
/// Client attestations and access tokens are bound to it. Its private half stays with the type that implements this.
public protocol InstanceKey: Sendable {
    /// The public point: 04, x and y, 65 bytes (SEC 1, section 2.3.3).
    var publicPoint: [UInt8] { get }
    /// What ``InstanceKeys/key(from:)`` finds the key by, at most 16 KB: the key itself, or a reference that only this
    /// device can use.
    var stored: [UInt8] { get }
    /// Signs a message, which is digested first.
    ///
    /// - Returns: r and s, 32 bytes each (RFC 7518, section 3.4).
    func sign(_ message: [UInt8]) throws -> [UInt8]
}

/// Makes keys and finds them again: `EnclaveKeys` on Apple's systems, `OpenSSLKeys` of `AssayClientHTTP`, or a type
/// of the program's own.
public protocol InstanceKeys: Sendable {
    /// A new key.
    func makeKey() throws -> any InstanceKey
    /// The key that ``InstanceKey/stored`` was taken from.
    ///
    /// - Throws: any error when this device does not have the key, or `stored` is damaged. The library then makes a
    ///   new one.
    func key(from stored: [UInt8]) throws -> any InstanceKey
}

/// The public half of an instance's key, as a JWK (RFC 7517).
struct InstanceJWK: Sendable {
    let x: String
    let y: String

    /// Nil for anything but an uncompressed point of P-256.
    init?(_ point: [UInt8]) {
        guard point.count == 65, point.first == 4 else { return nil }
        x = Base64Text.encodeURL(Array(point[1...32]))
        y = Base64Text.encodeURL(Array(point[33...64]))
    }

    /// The members that define the key, in the order of the thumbprint (RFC 7638, section 3.2).
    var json: [UInt8] {
        JSONText.object([("crv", "P-256"), ("kty", "EC"), ("x", .text(x)), ("y", .text(y))])
    }

    var thumbprint: String { Base64Text.encodeURL(SHA256Digest.hash(json)) }

    /// Whether a JWK of a server is this key.
    func isSame(as jwk: JSONValue?) -> Bool {
        let expected = [("kty", "EC"), ("crv", "P-256"), ("x", x), ("y", y)]
        return expected.allSatisfy { name, value in jwk?[name]?.text?.sameBytes(as: value) == true }
    }
}

/// The key of an instance for one authorization server: found in storage, or made when it is first needed.
final class InstanceKeyHolder: Sendable {
    struct Stored: Sendable {
        let key: any InstanceKey
        let jwk: InstanceJWK
    }

    private let keys: any InstanceKeys
    private let storage: BoundStorage
    private let name: String
    private let notice: @Sendable (String) -> Void
    private let held = Lock<Stored?>(nil)

    init(keys: any InstanceKeys, storage: BoundStorage, name: String, notice: @escaping @Sendable (String) -> Void) {
        self.keys = keys
        self.storage = storage
        self.name = name
        self.notice = notice
    }

    /// The key; the lock is held while it is made, which happens once.
    func key() throws(AppCheckError) -> Stored {
        let result = held.withLock { held -> Result<Stored, AppCheckError> in
            if let held { return .success(held) }
            do throws(AppCheckError) {
                let found = try find()
                held = found
                return .success(found)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func find() throws(AppCheckError) -> Stored {
        if let stored = storage.load(name) {
            if let key = try? keys.key(from: stored), let jwk = InstanceJWK(key.publicPoint) {
                return Stored(key: key, jwk: jwk)
            }
            notice(
                "The stored key of the OAuth client cannot be used on this device: a new one is made. Users sign in "
                    + "again."
            )
        }
        let key: any InstanceKey
        do {
            key = try keys.makeKey()
        } catch {
            throw AppCheckError(.deviceFailed, "The device could not make a key for the OAuth client.", cause: error)
        }
        guard let jwk = InstanceJWK(key.publicPoint) else {
            throw AppCheckError(.deviceFailed, "The key for the OAuth client is no key of P-256.")
        }
        storage.save(key.stored, as: name)
        return Stored(key: key, jwk: jwk)
    }
}
