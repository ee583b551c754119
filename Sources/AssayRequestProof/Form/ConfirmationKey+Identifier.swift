public import AssayCore
internal import AssayCrypto

extension ConfirmationKey {
    /// What App Attest calls the key's identifier: Base 64 of the SHA-256 of the public key.
    public var identifier: String { Base64.encode(SHA256.hash(publicKey)) }
}
