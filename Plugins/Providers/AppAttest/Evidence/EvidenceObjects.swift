internal import AssayCBOR
internal import AssayCore

/// A parsed attestation object (WebAuthn, section 6.5.4) of the format `apple-appattest`.
struct AttestationObject {
    /// The certificate of the attested key, in DER.
    let leaf: ArraySlice<UInt8>
    /// The certificate of the leaf's issuer, in DER.
    let intermediate: ArraySlice<UInt8>
    /// Apple's receipt; nil when the statement has none, which ``ReceiptRequirement`` judges.
    let receipt: [UInt8]?
    let authenticatorData: ArraySlice<UInt8>
    /// The members that this version does not know.
    let unknown: UnknownMembers

    /// Decodes an object; keys may come in any order.
    ///
    /// - Parameter isRoot: whether a certificate is a trusted root, which may follow the other two.
    init(_ bytes: [UInt8], isRoot: (ArraySlice<UInt8>) -> Bool) throws(AppAttestRefusal) {
        var unknown = UnknownMembers()
        let object = try EvidenceCBOR.map(
            EvidenceCBOR.whole(bytes), known: ["fmt", "attStmt", "authData"], unknown: &unknown)
        guard let format = object["fmt"] else { throw AppAttestRefusal(AppAttestReasons.formatMissing) }
        guard let name = format.text else { throw AppAttestRefusal(AppAttestReasons.cborTypeUnexpected, "fmt") }
        guard name.isExactly("apple-appattest") else { throw AppAttestRefusal(AppAttestReasons.formatUnknown) }
        guard let statementValue = object["attStmt"] else { throw AppAttestRefusal(AppAttestReasons.statementMissing) }
        let statement = try EvidenceCBOR.map(
            statementValue, known: ["x5c", "receipt"], in: "attStmt", unknown: &unknown)
        authenticatorData =
            try EvidenceCBOR.bytes("authData", in: object, missing: AppAttestReasons.authenticatorDataMissing)[...]
        receipt = try EvidenceCBOR.bytes("receipt", in: statement)
        (leaf, intermediate) = try Self.certificates(statement["x5c"], isRoot)
        self.unknown = unknown
    }

    private static func certificates(
        _ value: CBORValue?, _ isRoot: (ArraySlice<UInt8>) -> Bool
    ) throws(AppAttestRefusal) -> (leaf: ArraySlice<UInt8>, intermediate: ArraySlice<UInt8>) {
        guard let value else { throw AppAttestRefusal(AppAttestReasons.certificatesMissing) }
        guard let elements = value.array else { throw AppAttestRefusal(AppAttestReasons.cborTypeUnexpected, "x5c") }
        let count = AppAttestRefusal(AppAttestReasons.certificateCount, "\(elements.count)")
        guard (2...3).contains(elements.count) else { throw count }
        let certificates = elements.compactMap { $0.bytes?[...] }
        guard certificates.count == elements.count else {
            throw AppAttestRefusal(AppAttestReasons.cborTypeUnexpected, "x5c")
        }
        // A root adds nothing: the path leads to the trusted one, whatever comes along.
        guard certificates.dropFirst(2).allSatisfy(isRoot), let leaf = certificates.first,
            let intermediate = certificates.dropFirst().first
        else { throw count }
        return (leaf, intermediate)
    }
}

/// A parsed assertion, `{ signature, authenticatorData }`.
struct AssertionObject {
    /// A DER `ECDSA-Sig-Value`.
    let signature: ArraySlice<UInt8>
    let authenticatorData: ArraySlice<UInt8>
    /// The members that this version does not know.
    let unknown: UnknownMembers

    /// Parses an assertion; the keys may come in any order.
    init(_ bytes: [UInt8]) throws(AppAttestRefusal) {
        var unknown = UnknownMembers()
        let object = try EvidenceCBOR.map(
            EvidenceCBOR.whole(bytes), known: ["signature", "authenticatorData"], unknown: &unknown)
        signature =
            try EvidenceCBOR.bytes("signature", in: object, missing: AppAttestReasons.assertionSignatureMissing)[...]
        authenticatorData =
            try EvidenceCBOR.bytes(
                "authenticatorData", in: object, missing: AppAttestReasons.authenticatorDataMissing)[...]
        self.unknown = unknown
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

    /// The members of a map whose keys must all be text: those that are known, and the names of the others.
    ///
    /// Members that are not known are passed over, because Apple may add some with any release of its systems.
    ///
    /// - Parameter place: the name of the map, for the names of unknown members; nil for the outermost one.
    static func map(
        _ value: CBORValue, known: Set<ExactText>, in place: String? = nil, unknown: inout UnknownMembers
    ) throws(AppAttestRefusal) -> [ExactText: CBORValue] {
        guard let pairs = value.map else { throw AppAttestRefusal(AppAttestReasons.cborTypeUnexpected) }
        var values: [ExactText: CBORValue] = [:]
        for pair in pairs {
            guard let key = pair.key.text else { throw AppAttestRefusal(AppAttestReasons.cborUnknownKey) }
            if known.contains(ExactText(key)) {
                values[ExactText(key)] = pair.value
            } else {
                unknown.add(key, in: place)
            }
        }
        return values
    }

    /// The bytes under a key: `missing` is the reason when they are absent.
    static func bytes(
        _ key: String, in values: [ExactText: CBORValue], missing: Reason
    ) throws(AppAttestRefusal) -> [UInt8] {
        guard let bytes = try bytes(key, in: values) else { throw AppAttestRefusal(missing) }
        return bytes
    }

    /// The bytes under a key; nil when they are absent.
    static func bytes(_ key: String, in values: [ExactText: CBORValue]) throws(AppAttestRefusal) -> [UInt8]? {
        guard let value = values[ExactText(key)] else { return nil }
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
            @unknown default: AppAttestReasons.cborMalformed
            }
        return AppAttestRefusal(reason, error.description)
    }
}
