public import AssayCrypto

/// A developer team whose servers may call a ``SimulatedAppleServer``: its key is made afresh.
public struct SimulatedAppleTeam: Sendable {
    /// Ten characters.
    public let teamID: String
    /// Ten characters: the `kid` of its tokens.
    public let keyID: String
    /// What a developer account gives out as a `.p8` file.
    public let privateKeyPEM: String
    let publicKey: PublicKey

    public init(teamID: String, keyID: String = "SIMULATED1") throws(CryptoError) {
        let key = try PrivateKey.generate(.ec(.p256))
        self.teamID = teamID
        self.keyID = keyID
        privateKeyPEM = try key.pem().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        publicKey = key.publicKey
    }
}
