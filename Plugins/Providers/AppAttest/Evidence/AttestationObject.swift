internal import AssayKit
internal import AssayCBOR

/// An attestation object (WebAuthn, section 6.5.4) of the format `apple-appattest`, taken apart.
struct AttestationObject {
    /// The certificate of the attested key, in DER.
    let leaf: ArraySlice<UInt8>
    /// The certificate of the leaf's issuer, in DER.
    let intermediate: ArraySlice<UInt8>
    let receipt: [UInt8]
    let authenticatorData: ArraySlice<UInt8>

    /// Takes an object apart; keys may come in any order, and there is none beside those that are known.
    init(_ bytes: [UInt8]) throws(AppAttestRefusal) {
        let object = try EvidenceCBOR.map(EvidenceCBOR.whole(bytes), keys: ["fmt", "attStmt", "authData"])
        guard let format = object["fmt"] else { throw AppAttestRefusal(AppAttestReasons.formatMissing) }
        guard let name = format.text else { throw AppAttestRefusal(AppAttestReasons.cborTypeUnexpected, "fmt") }
        guard name.isExactly("apple-appattest") else { throw AppAttestRefusal(AppAttestReasons.formatUnknown) }
        guard let statementValue = object["attStmt"] else { throw AppAttestRefusal(AppAttestReasons.statementMissing) }
        let statement = try EvidenceCBOR.map(statementValue, keys: ["x5c", "receipt"])
        authenticatorData =
            try EvidenceCBOR.bytes("authData", in: object, missing: AppAttestReasons.authenticatorDataMissing)[...]
        receipt = try EvidenceCBOR.bytes("receipt", in: statement, missing: AppAttestReasons.receiptMissing)
        (leaf, intermediate) = try Self.certificates(statement["x5c"])
    }

    private static func certificates(
        _ value: CBORValue?
    ) throws(AppAttestRefusal) -> (leaf: ArraySlice<UInt8>, intermediate: ArraySlice<UInt8>) {
        guard let value else { throw AppAttestRefusal(AppAttestReasons.certificatesMissing) }
        guard let elements = value.array else { throw AppAttestRefusal(AppAttestReasons.cborTypeUnexpected, "x5c") }
        guard elements.count == 2, let first = elements.first, let last = elements.last else {
            throw AppAttestRefusal(AppAttestReasons.certificateCount, "\(elements.count)")
        }
        guard let leaf = first.bytes, let intermediate = last.bytes else {
            throw AppAttestRefusal(AppAttestReasons.cborTypeUnexpected, "x5c")
        }
        return (leaf[...], intermediate[...])
    }
}
