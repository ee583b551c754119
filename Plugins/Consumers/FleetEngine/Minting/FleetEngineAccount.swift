public import AssayCore
internal import AssayCrypto

/// A service account of Google Cloud that signs tokens by the key in its key file.
public struct FleetEngineAccount: Sendable {
    /// `client_email`: the tokens' `iss` and `sub`.
    public let email: String
    /// `private_key_id`: the tokens' `kid`.
    public var keyID: String { signer.keyID }

    let signer: JWSSigner
    /// What tells the account and its key from others.
    let identity: String
    /// The JSON text `{"iss":…,"sub":…`, with which all claims begin.
    let principal: [UInt8]

    /// The account of a key file (Google Cloud, "Create and delete service account keys"); the caller wipes the bytes.
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
                throw CryptoError(.unsupportedKey, "Fleet Engine accepts RS256 only, which needs an RSA key")
            }
            signer = try JWSSigner(key: key, keyID: keyID, algorithm: .rs256)
            identity = "\(email) \(keyID) \(Hex.encode(SHA256.hash(try key.publicKey.pem())))"
        } catch {
            throw ConfigurationError("the account's key cannot be used: \(error.message)")
        }
        self.email = email
        let name = JSON.string(email).encoded
        principal = Array(#"{"iss":"#.utf8) + name + Array(#","sub":"#.utf8) + name
    }
}

/// Reads the key files that a section refers to, each once.
struct FleetEngineAccounts {
    private let secrets: SecretSource
    private var known: [SecretReference: FleetEngineAccount] = [:]

    init(_ secrets: SecretSource) {
        self.secrets = secrets
    }

    /// Nil, and a problem, for what cannot be read.
    mutating func account(
        _ reference: SecretReference, at path: [ConfigurationError.Component], _ problems: inout ConfigurationProblems
    ) -> FleetEngineAccount? {
        if let account = known[reference] { return account }
        let account = problems.attempt { () throws(ConfigurationError) in try read(reference, at: path) }
        known[reference] = account
        return account
    }

    private func read(
        _ reference: SecretReference, at path: [ConfigurationError.Component]
    ) throws(ConfigurationError) -> FleetEngineAccount {
        var bytes: [UInt8]
        do throws(SecretError) {
            bytes = try secrets.json(reference)
        } catch {
            throw ConfigurationError(at: path, error.message)
        }
        defer { SecretBytes.wipe(&bytes) }
        do throws(ConfigurationError) {
            return try FleetEngineAccount(keyFile: bytes)
        } catch {
            throw ConfigurationError(at: path, "\(reference): \(error.message)")
        }
    }
}
