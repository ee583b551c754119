internal import AssayCBOR
internal import AssayCore

/// A parsed attestation object (WebAuthn, section 6.5.4) of the format `apple-appattest`.
struct AttestationObject {
    /// The certificate of the attested key, in DER.
    let leaf: ArraySlice<UInt8>
    /// The certificate of the leaf's issuer, in DER.
    let intermediate: ArraySlice<UInt8>
    let receipt: [UInt8]
    let authenticatorData: ArraySlice<UInt8>

    /// Decodes an object; keys may come in any order, and unknown keys are refused.
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

/// A parsed assertion, `{ signature, authenticatorData }`.
struct AssertionObject {
    /// A DER `ECDSA-Sig-Value`.
    let signature: ArraySlice<UInt8>
    let authenticatorData: ArraySlice<UInt8>

    /// Parses an assertion; the keys may come in either order, and no others are allowed.
    init(_ bytes: [UInt8]) throws(AppAttestRefusal) {
        let object = try EvidenceCBOR.map(EvidenceCBOR.whole(bytes), keys: ["signature", "authenticatorData"])
        signature =
            try EvidenceCBOR.bytes("signature", in: object, missing: AppAttestReasons.assertionSignatureMissing)[...]
        authenticatorData =
            try EvidenceCBOR.bytes(
                "authenticatorData", in: object, missing: AppAttestReasons.authenticatorDataMissing)[...]
    }
}

/// Reads the CBOR of evidence: deterministic encoding, except for the order of keys (RFC 8949, section 4.2.1).
enum EvidenceCBOR {
    private static let decoder = CBORDecoder(limits: .evidence, profile: .strict)

    /// The one item that the bytes are.
    static func whole(_ bytes: [UInt8]) throws(AppAttestRefusal) -> CBORValue {
        do {
            return try decoder.decode(bytes)
        } catch {
            throw refusal(error)
        }
    }

    /// The item at the start of the bytes, and how many bytes it has.
    static func first(in bytes: ArraySlice<UInt8>) throws(AppAttestRefusal) -> (value: CBORValue, count: Int) {
        do {
            return try decoder.decodeFirst(bytes)
        } catch {
            throw refusal(error)
        }
    }

    /// The pairs of a map whose keys must all be text, and among the allowed ones.
    static func map(
        _ value: CBORValue, keys allowed: Set<ExactText>
    ) throws(AppAttestRefusal) -> [ExactText: CBORValue] {
        guard let pairs = value.map else { throw AppAttestRefusal(AppAttestReasons.cborTypeUnexpected) }
        var values: [ExactText: CBORValue] = [:]
        for pair in pairs {
            guard let key = pair.key.text, allowed.contains(key) else {
                throw AppAttestRefusal(AppAttestReasons.cborUnknownKey)
            }
            values[key] = pair.value
        }
        return values
    }

    /// The bytes under a key: `missing` is the reason when they are absent.
    static func bytes(
        _ key: String, in values: [ExactText: CBORValue], missing: Reason
    ) throws(AppAttestRefusal) -> [UInt8] {
        guard let value = values[key] else { throw AppAttestRefusal(missing) }
        guard let bytes = value.bytes else {
            throw AppAttestRefusal(AppAttestReasons.cborTypeUnexpected, key)
        }
        return bytes
    }

    private static func refusal(_ error: CBORError) -> AppAttestRefusal {
        let reason =
            switch error.code {
            case .truncated: AppAttestReasons.cborTruncated
            case .trailingBytes: AppAttestReasons.cborTrailingBytes
            case .duplicateKey: AppAttestReasons.cborDuplicateKey
            case .tooDeep, .tooManyItems, .tooLarge: AppAttestReasons.cborLimitExceeded
            case .indefiniteLength, .nonShortestHead: AppAttestReasons.cborNotDeterministic
            case .invalidUTF8, .unsupported, .malformed: AppAttestReasons.cborMalformed
            }
        return AppAttestRefusal(reason, error.description)
    }
}
