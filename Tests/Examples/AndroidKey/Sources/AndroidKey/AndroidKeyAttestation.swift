import AssayCore
import AssayCrypto

/// What an attested key of an Android device says of itself (Android, Verify hardware-backed key pairs with key attestation).
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
    /// Whether the system that was started is the one that the device's maker signed.
    let isBootVerified: Bool
    /// The month of the system's last security update, as `202611`; nil when the device does not say.
    let patchLevel: Int?
    let noAuthenticationRequired: Bool
    /// The app that made the key; nil when the device does not say.
    let application: Application?
    let key: PublicKey

    /// Who may use the key: the packages of one Android user ID, and the certificates that they are signed with.
    struct Application {
        let packages: [[UInt8]]
        /// SHA-256 of each certificate.
        let signers: [[UInt8]]
    }

    /// The extension of a leaf that describes its key.
    static let identifier = OID(1, 3, 6, 1, 4, 1, 11129, 2, 1, 17)

    /// Verifies a chain, the leaf first, and reads the description of its key.
    init(_ chain: [Certificate], under anchors: [TrustAnchor], at instant: Instant) throws(Refusal) {
        var path = chain
        // Devices send the root, too.
        if let last = path.last, anchors.contains(where: { last.encoded == $0.certificate.encoded }) {
            path.removeLast()
        }
        do {
            try CertificatePathVerifier(anchors: anchors, lengthLimit: 4).verify(path, at: instant)
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
            isBootVerified = hardware.isBootVerified
            patchLevel = hardware.patchLevel
            application = software.application
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
        var isBootVerified = false
        var patchLevel: Int?
        var noAuthenticationRequired = false
        var application: Application?

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
                    isBootVerified = try root.enumerated() == 0
                    _ = try root.octetString()
                    try root.finish()
                case .context(706): patchLevel = try content.smallInteger()
                case .context(709): application = try Application(content.octetString())
                default:
                    continue
                }
                try content.finish()
            }
        }
    }
}

extension AndroidKeyAttestation.Application {
    fileprivate init(_ bytes: ArraySlice<UInt8>) throws(ASN1Error) {
        var fields = try DERReader.single(.sequence, in: bytes).reader
        var packages = try fields.next(.set).reader
        var signers = try fields.next(.set).reader
        try fields.finish()
        var names: [[UInt8]] = []
        while !packages.isAtEnd {
            var package = try packages.next(.sequence).reader
            names.append(Array(try package.octetString()))
            _ = try package.int64()
            try package.finish()
        }
        var digests: [[UInt8]] = []
        while !signers.isAtEnd { digests.append(Array(try signers.octetString())) }
        self.init(packages: names, signers: digests)
    }
}
