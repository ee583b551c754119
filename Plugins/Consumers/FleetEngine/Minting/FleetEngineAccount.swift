public import AssayCore
internal import AssayCrypto
internal import AssayGoogle

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
        self.init(try GoogleServiceAccount(keyFile: bytes))
    }

    init(_ account: GoogleServiceAccount) {
        (email, signer, identity) = (account.email, account.signer, account.identity)
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
        let account = problems.attempt { [secrets] () throws(ConfigurationError) in
            FleetEngineAccount(try GoogleServiceAccount.named(reference, secrets: secrets, at: path))
        }
        known[reference] = account
        return account
    }
}
