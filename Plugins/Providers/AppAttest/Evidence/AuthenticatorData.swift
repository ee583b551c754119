/// Authenticator data as App Attest makes it (WebAuthn, section 6.1), read by position.
///
/// The flags decide nothing: since iOS 27 an assertion may claim attested credential data that it does not have, and a
/// map of extensions may follow whether they say so or not. They are kept for those who want to look at them.
struct AuthenticatorData {
    /// SHA-256 of the App ID.
    let relyingPartyHash: ArraySlice<UInt8>
    let flags: UInt8
    let counter: UInt32
    /// What attestations have, and assertions do not.
    let credential: AttestedCredential?
    let extensions: AuthenticatorExtensions

    /// The most bytes that are read; real ones have up to 229.
    private static let byteLimit = 2048
    private static let headCount = 37

    /// The data of an attestation: head, credential, and a map or nothing.
    init(attestation bytes: ArraySlice<UInt8>) throws(AppAttestRefusal) {
        (relyingPartyHash, flags, counter) = try Self.head(of: bytes)
        let (credential, count) = try AttestedCredential.read(bytes.dropFirst(Self.headCount))
        self.credential = credential
        extensions = try AuthenticatorExtensions(bytes.dropFirst(Self.headCount + count))
    }

    /// The data of an assertion: head, and a map or nothing.
    init(assertion bytes: ArraySlice<UInt8>) throws(AppAttestRefusal) {
        (relyingPartyHash, flags, counter) = try Self.head(of: bytes)
        credential = nil
        extensions = try AuthenticatorExtensions(bytes.dropFirst(Self.headCount))
    }

    private static func head(
        of bytes: ArraySlice<UInt8>
    ) throws(AppAttestRefusal) -> (ArraySlice<UInt8>, UInt8, UInt32) {
        guard bytes.count <= byteLimit else { throw AppAttestRefusal(AppAttestReasons.evidenceTooLarge) }
        guard bytes.count >= headCount, let flags = bytes.dropFirst(32).first else {
            throw AppAttestRefusal(AppAttestReasons.authenticatorDataTruncated)
        }
        let counter = bytes.dropFirst(33).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return (bytes.prefix(32), flags, counter)
    }
}
