public import AssayCore
public import AssayCrypto

/// A service account of Google Cloud, by its key file (Google Cloud, "Create and delete service account keys").
public struct GoogleServiceAccount: Sendable {
    /// `client_email`: the name of the account.
    @Exact public private(set) var email: String
    /// Signs with the account's key, by RS256; `private_key_id` is the `kid`.
    public let signer: JWSSigner
    /// What tells the account and its key from others, and is no secret.
    @Exact public private(set) var identity: String

    /// The account of a key file; the caller wipes the bytes.
    ///
    /// - Throws: when it is not a key file, or its key is not an RSA key of 2048 bits or more; the error contains
    ///   nothing of its content.
    public init(keyFile bytes: [UInt8]) throws(ConfigurationError) {
        let limits = JSON.Limits(bytes: 65_536, depth: 4, values: 64, allowsRepeatedNames: false)
        guard let file = try? JSON.parse(bytes, limits: limits), file["type"].map({ $0 == "service_account" }) ?? true
        else { throw ConfigurationError("it is not a key file of a service account") }
        guard let email = file["client_email"]?.string, (3...320).contains(email.utf8.count),
            email.utf8.contains(UInt8(ascii: "@"))
        else {
            throw ConfigurationError("the key file has no `client_email`")
        }
        guard let keyID = file["private_key_id"]?.string, (1...256).contains(keyID.utf8.count),
            keyID.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw ConfigurationError("the key file has no `private_key_id`, which tokens name as their `kid`") }
        guard let text = file["private_key"]?.string else {
            throw ConfigurationError("the key file has no `private_key`")
        }
        var pem: [UInt8]
        do throws(SecretError) {
            pem = try SecretText.pem(Array(text.utf8))
        } catch {
            throw ConfigurationError("the account's key cannot be used: \(error.message)")
        }
        defer { SecretBytes.wipe(&pem) }
        do throws(CryptoError) {
            let key = try PrivateKey(pem: pem)
            guard case .rsa = key.publicKey else {
                throw CryptoError(.unsupportedKey, "Google accepts RS256 only, which needs an RSA key")
            }
            signer = try JWSSigner(key: key, keyID: keyID, algorithm: .rs256)
            identity = "\(email) \(keyID) \(Hex.encode(SHA256.hash(try key.publicKey.pem())))"
        } catch {
            throw ConfigurationError("the account's key cannot be used: \(error.message)")
        }
        self.email = email
    }

    /// The account whose key file a policy names.
    ///
    /// - Parameter path: the place of the reference in the section.
    /// - Throws: the error, at its place; nothing of the file's content.
    public static func named(
        _ reference: SecretReference, secrets: SecretSource, at path: [ConfigurationError.Component]
    ) throws(ConfigurationError) -> GoogleServiceAccount {
        var bytes: [UInt8]
        do throws(SecretError) {
            bytes = try secrets.json(reference)
        } catch {
            throw ConfigurationError(at: path, error.message)
        }
        defer { SecretBytes.wipe(&bytes) }
        do throws(ConfigurationError) {
            return try GoogleServiceAccount(keyFile: bytes)
        } catch {
            throw ConfigurationError(at: path, "\(reference): \(error.message)")
        }
    }
}
