internal import AssayCBOR
internal import AssayKit

/// Reads the CBOR of evidence: deterministic encoding, but for the order of keys (RFC 8949, section 4.2.1).
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

    /// The pairs of a map whose keys are all text, and among those that are allowed.
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

    /// The bytes under a key: `missing` is the reason when there are none.
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
