import AssayCore
import AssayCrypto
import AssayX509

/// What an attested key of an Android device says of itself, read with public declarations alone, as a provider outside
/// this package would (Android, Verify hardware-backed key pairs with key attestation).
struct AndroidKeyAttestation {
    /// Why a chain is refused.
    enum Refusal: Error, Equatable {
        case malformed
        case untrusted(CertificatePathError)
        case extensionMissing
        case extensionOutsideLeaf
        case keyInvalid
    }

    /// Where the attestation was made.
    enum SecurityLevel: Int {
        case software = 0
        case trustedEnvironment = 1
        case strongBox = 2
    }

    let version: Int
    let securityLevel: SecurityLevel
    let challenge: [UInt8]
    let purposes: [Int]
    let created: Instant?
    let isDeviceLocked: Bool?
    let noAuthenticationRequired: Bool
    let key: PublicKey

    /// The extension of a leaf that describes its key.
    static let identifier = OID(1, 3, 6, 1, 4, 1, 11129, 2, 1, 17)

    /// Verifies a chain, the leaf first, and reads the description of its key.
    init(_ chain: [Certificate], under anchor: TrustAnchor, at instant: Instant) throws(Refusal) {
        var path = chain
        // Devices send the root, too.
        if let last = path.last, last.encoded == anchor.certificate.encoded { path.removeLast() }
        do {
            try CertificatePathVerifier(anchors: [anchor], lengthLimit: 4).verify(path, at: instant)
        } catch {
            throw .untrusted(error)
        }
        guard let leaf = path.first, let value = leaf.value(of: Self.identifier) else { throw .extensionMissing }
        // An attested key could certify another one: only what the authority says itself counts.
        guard path.dropFirst().allSatisfy({ $0.value(of: Self.identifier) == nil }) else { throw .extensionOutsideLeaf }
        do {
            key = try leaf.key.publicKey()
        } catch {
            throw .keyInvalid
        }
        do throws(ASN1Error) {
            var fields = try DERReader.single(.sequence, in: value).reader
            version = try fields.smallInteger()
            let start = fields.offset
            guard let level = SecurityLevel(rawValue: try fields.enumerated()) else {
                throw ASN1Error(.valueUnexpected, at: start)
            }
            securityLevel = level
            _ = try fields.smallInteger()
            _ = try fields.enumerated()
            challenge = Array(try fields.octetString())
            _ = try fields.octetString()
            let software = try Authorizations(fields.next(.sequence))
            let hardware = try Authorizations(fields.next(.sequence))
            try fields.finish()
            purposes = hardware.purposes
            created = software.created
            isDeviceLocked = hardware.isDeviceLocked
            noAuthenticationRequired = hardware.noAuthenticationRequired
        } catch {
            throw .malformed
        }
    }

    /// A list of properties, each with an explicit tag; the ones that are not known are skipped.
    private struct Authorizations {
        var purposes: [Int] = []
        var created: Instant?
        var isDeviceLocked: Bool?
        var noAuthenticationRequired = false

        init(_ list: ASN1Element) throws(ASN1Error) {
            var reader = list.reader
            while !reader.isAtEnd {
                let property = try reader.next()
                var content = property.reader
                switch property.tag {
                case .context(1):
                    var numbers = try content.next(.set).reader
                    while !numbers.isAtEnd { purposes.append(try numbers.smallInteger()) }
                case .context(503):
                    try content.null()
                    noAuthenticationRequired = true
                case .context(701):
                    created = Instant(seconds: try content.int64() / 1000)
                case .context(704):
                    var root = try content.next(.sequence).reader
                    _ = try root.octetString()
                    isDeviceLocked = try root.boolean()
                    _ = try root.enumerated()
                    _ = try root.octetString()
                    try root.finish()
                default:
                    continue
                }
                try content.finish()
            }
        }
    }
}
