internal import AssayCrypto

/// Attested credential data (WebAuthn, section 6.5.1).
struct AttestedCredential {
    let aaguid: ArraySlice<UInt8>
    let credentialID: ArraySlice<UInt8>
    /// The credential's key in the form `04 ‖ X ‖ Y`.
    let publicKey: [UInt8]

    /// Reads the data, and tells how many bytes it has.
    static func read(_ bytes: ArraySlice<UInt8>) throws(AppAttestRefusal) -> (AttestedCredential, count: Int) {
        guard !bytes.isEmpty else { throw AppAttestRefusal(AppAttestReasons.attestedDataMissing) }
        guard bytes.count >= 18 else { throw AppAttestRefusal(AppAttestReasons.authenticatorDataTruncated) }
        // An App Attest credential identifier is a SHA-256 digest.
        guard bytes.dropFirst(16).prefix(2).elementsEqual([0, 32]) else {
            throw AppAttestRefusal(AppAttestReasons.credentialIDLength)
        }
        let rest = bytes.dropFirst(18)
        guard rest.count > 32 else { throw AppAttestRefusal(AppAttestReasons.authenticatorDataTruncated) }
        let (publicKey, keyCount) = try COSEKey.read(rest.dropFirst(32))
        let credential = AttestedCredential(
            aaguid: bytes.prefix(16), credentialID: rest.prefix(32), publicKey: publicKey)
        return (credential, 18 + 32 + keyCount)
    }
}
