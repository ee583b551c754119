internal import AssayCBOR
internal import AssayKit

/// An assertion, `{ signature, authenticatorData }`, taken apart.
struct AssertionObject {
    /// A DER `ECDSA-Sig-Value`.
    let signature: ArraySlice<UInt8>
    let authenticatorData: ArraySlice<UInt8>

    /// Takes an assertion apart; the keys may come in either order, and there are no others.
    init(_ bytes: [UInt8]) throws(AppAttestRefusal) {
        let object = try EvidenceCBOR.map(EvidenceCBOR.whole(bytes), keys: ["signature", "authenticatorData"])
        signature =
            try EvidenceCBOR.bytes("signature", in: object, missing: AppAttestReasons.assertionSignatureMissing)[...]
        authenticatorData =
            try EvidenceCBOR.bytes(
                "authenticatorData", in: object, missing: AppAttestReasons.authenticatorDataMissing)[...]
    }
}
