internal import AssayCore
internal import AssayCrypto

/// The certificate of an attested key, with Apple's own extensions about the key.
struct AttestedLeaf {
    let certificate: Certificate
    /// The nonce that the key was certified for.
    let nonce: ArraySlice<UInt8>
    /// The operating system of the device.
    let system: AttestedSystem
    /// The App ID that the extension of key properties repeats; nothing is judged by it.
    let appID: String?

    /// Reads a leaf, and judges what can be judged without its issuer.
    init(_ der: ArraySlice<UInt8>) throws(AppAttestRefusal) {
        certificate = try Self.certificate(der)
        guard !certificate.isAuthority else { throw AppAttestRefusal(AppAttestReasons.leafIsAuthority) }
        guard certificate.key.kind == .ec(.p256) else { throw AppAttestRefusal(AppAttestReasons.leafCurveUnsupported) }
        try Self.judgePurposes(of: certificate)
        nonce = try Self.nonce(of: certificate)
        system = try Self.system(of: certificate)
        if system.isMac {
            guard certificate.value(of: .attestedKeyPolicy)?.elementsEqual(AccessControlPolicy.mac) ?? false else {
                throw AppAttestRefusal(AppAttestReasons.macPolicyMismatch)
            }
        }
        appID = certificate.value(of: .attestedKeyProperties)
            .flatMap { try? TaggedValues(extensionValue: $0) }?.text(1204)
    }

    private static func certificate(_ der: ArraySlice<UInt8>) throws(AppAttestRefusal) -> Certificate {
        do {
            return try Certificate(der: der, accepting: .ecdsa)
        } catch {
            let reason =
                switch error.code {
                case .extensionDuplicated where error.extensionIdentifier.isExactly(OID.attestationNonce.description):
                    AppAttestReasons.nonceExtensionDuplicated
                case .keyUnsupported: AppAttestReasons.leafCurveUnsupported
                case .keyInvalid: AppAttestReasons.leafPointInvalid
                default: AppAttestReasons.certificateMalformed
                }
            throw AppAttestRefusal(reason, error.description)
        }
    }

    /// Leaves made before 2026 name no purpose; the later ones name one, and no other.
    private static func judgePurposes(of certificate: Certificate) throws(AppAttestRefusal) {
        guard let value = certificate.value(of: .extendedKeyUsage) else { return }
        do throws(ASN1Error) {
            var purposes = try DERReader.single(.sequence, in: value).reader
            let purpose = try purposes.objectIdentifier()
            guard purpose == .appAttestPurpose, purposes.isAtEnd else {
                throw ASN1Error(.valueUnexpected, at: value.startIndex)
            }
        } catch {
            throw AppAttestRefusal(AppAttestReasons.extendedKeyUsageUnexpected, error.description)
        }
    }

    /// The nonce in its only form, `SEQUENCE { [1] { OCTET STRING (32 bytes) } }`.
    private static func nonce(of certificate: Certificate) throws(AppAttestRefusal) -> ArraySlice<UInt8> {
        guard let value = certificate.value(of: .attestationNonce) else {
            throw AppAttestRefusal(AppAttestReasons.nonceExtensionMissing)
        }
        let head: [UInt8] = [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20]
        guard value.count == head.count + SHA256.byteCount, value.starts(with: head) else {
            throw AppAttestRefusal(AppAttestReasons.nonceExtensionMalformed)
        }
        return value.dropFirst(head.count)
    }

    private static func system(of certificate: Certificate) throws(AppAttestRefusal) -> AttestedSystem {
        guard let value = certificate.value(of: .attestedSystem) else { return AttestedSystem() }
        do {
            return try AttestedSystem(extensionValue: value)
        } catch {
            throw AppAttestRefusal(AppAttestReasons.systemExtensionMalformed, error.description)
        }
    }
}

extension OID {
    /// The nonce that the attested key was certified for.
    static let attestationNonce = OID(1, 2, 840, 113635, 100, 8, 2)
    /// Properties of the key, the App ID among them; undocumented.
    static let attestedKeyProperties = OID(1, 2, 840, 113635, 100, 8, 5)
    /// The access-control policy of the key.
    static let attestedKeyPolicy = OID(1, 2, 840, 113635, 100, 8, 6)
    /// Properties of the operating system; undocumented.
    static let attestedSystem = OID(1, 2, 840, 113635, 100, 8, 7)
    /// The one purpose that leaves carry since 2026.
    static let appAttestPurpose = OID(1, 2, 840, 113635, 100, 4, 24)
    /// The mark of a certificate for signers of receipts.
    static let receiptSigner = OID(1, 2, 840, 113635, 100, 12, 15)
}
