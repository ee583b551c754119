internal import AssayCBOR
internal import AssayCrypto

/// Authenticator data as App Attest makes it (WebAuthn, section 6.1), read by position.
///
/// The flags decide nothing: since iOS 27 an assertion may claim attested credential data that it does not have, and a
/// map of extensions may follow whether they say so or not. They are kept for inspection.
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

/// The credential's key: only a COSE_Key of type EC2, for ES256, on P-256 (RFC 9053, sections 2.1 and 7.1).
enum COSEKey {
    /// Reads a key at the start of the bytes: its point in the form `04 ‖ X ‖ Y`, and how many bytes were read.
    static func read(_ bytes: ArraySlice<UInt8>) throws(AppAttestRefusal) -> (point: [UInt8], count: Int) {
        let (key, count) = try EvidenceCBOR.first(in: bytes)
        // Type, algorithm and curve by their numbers in the registries of COSE; then the coordinates.
        // In bounds: the subscripts are labels of a map.
        guard key.map?.count == 5, key[1] == .integer(2), key[3] == .integer(-7), key[-1] == .integer(1),
            let x = key[-2]?.bytes, x.count == 32, let y = key[-3]?.bytes, y.count == 32
        else { throw AppAttestRefusal(AppAttestReasons.coseKeyMalformed) }
        return ([0x04] + x + y, count)
    }
}

/// Which of Apple's two App Attest environments made a key.
public enum AppAttestEnvironment: String, Sendable, Hashable, CaseIterable, Codable {
    case development
    case production

    /// The environment of an authenticator's identifier; nil for any other identifier.
    init?(aaguid: some Collection<UInt8>) {
        guard let found = Self.allCases.first(where: { $0.aaguid.elementsEqual(aaguid) }) else { return nil }
        self = found
    }

    /// The identifier in attested credential data (Apple, Validating Apps That Connect to Your Server): 16 bytes.
    var aaguid: [UInt8] {
        switch self {
        case .development: Array("appattestdevelop".utf8)
        case .production: Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
        }
    }

    /// What receipts call the environment.
    var receiptName: String {
        switch self {
        case .development: "sandbox"
        case .production: "production"
        }
    }
}
