public import AssayCore
public import AssayCrypto

/// What a device says of a key that it made: the extension 1.3.6.1.4.1.11129.2.1.17 of the key's certificate (Android, Key attestation).
///
/// All versions are read by one schema. Tags that it does not know are passed over, and named.
public struct KeyDescription: Sendable, Hashable {
    /// Where something is done: in software, or in which hardware.
    public enum SecurityLevel: Int, Sendable, Hashable, CaseIterable {
        case software = 0
        /// A trusted execution environment.
        case tee = 1
        /// A chip of its own.
        case strongBox = 2
    }

    /// The identifier of the extension.
    public static let identifier = OID(1, 3, 6, 1, 4, 1, 11129, 2, 1, 17)
    /// The most bytes that are read.
    public static let byteLimit = 8 * 1024

    /// The version of the form: 1 to 4 for Keymaster, 100 and more for KeyMint.
    public let version: Int
    /// Where the attestation was made.
    public let attestationLevel: SecurityLevel
    /// The version of Keymaster or KeyMint: 2, 3, 4, 41, 100 and so on.
    public let keyMintVersion: Int
    /// Where the key is.
    public let keyLevel: SecurityLevel
    /// What the app gave when it made the key.
    public let challenge: [UInt8]
    /// What the system says of the key and the app; the secure hardware does not vouch for it.
    public let software: AuthorizationList
    /// What the secure hardware says.
    public let hardware: AuthorizationList

    /// Reads the value of the extension.
    public init(extensionValue bytes: ArraySlice<UInt8>) throws(ASN1Error) {
        guard bytes.count <= Self.byteLimit else { throw ASN1Error(.tooLarge, at: bytes.startIndex) }
        var fields = try DERReader.single(.sequence, in: bytes).reader
        version = try fields.smallInteger()
        attestationLevel = try Self.level(&fields)
        keyMintVersion = try fields.smallInteger()
        keyLevel = try Self.level(&fields)
        challenge = Array(try fields.octetString())
        // The unique ID, which only system apps get.
        _ = try fields.octetString()
        software = try AuthorizationList(fields.next(.sequence))
        hardware = try AuthorizationList(fields.next(.sequence))
        try fields.finish()
    }

    private static func level(_ fields: inout DERReader) throws(ASN1Error) -> SecurityLevel {
        let start = fields.offset
        guard let level = SecurityLevel(rawValue: try fields.enumerated()) else {
            throw ASN1Error(.valueUnexpected, at: start)
        }
        return level
    }
}

/// Properties of a key and of the system, each with a tag (`AuthorizationList`).
///
/// Tags come in any order, because some devices do not sort them; none comes twice.
public struct AuthorizationList: Sendable, Hashable {
    /// What the key is for.
    public private(set) var purposes: [Int] = []
    /// 1 is RSA, 3 is EC, 4 is ML-DSA.
    public private(set) var algorithm: Int?
    /// The length of the key in bits.
    public private(set) var keySize: Int?
    /// How the key came to be: 0 for a key that was made where it is.
    public private(set) var origin: Int?
    /// Whether a key that was deleted cannot come back.
    public private(set) var resistsRollback = false
    /// Whether the key can be used without a user who has unlocked the device.
    public private(set) var needsNoAuthentication = false
    /// What was booted; nil where the device does not say.
    public private(set) var rootOfTrust: RootOfTrust?
    /// The system's version, as `160000`; 0 for an unknown one.
    public private(set) var osVersion: Int?
    /// The last security update of the system, as `202611`.
    public private(set) var osPatchLevel: Int?
    /// The last security update of the vendor's part, as `20261105` or `202611`.
    public private(set) var vendorPatchLevel: Int?
    /// The last security update of the boot loader, in the same form.
    public private(set) var bootPatchLevel: Int?
    /// Which app made the key.
    public private(set) var application: AttestationApplication?
    /// Tags that this version does not know, in their order.
    public private(set) var unknownTags: [UInt32] = []

    /// Tags that are known and say nothing that is judged: algorithms and times of use, identifiers of the device and others.
    private static let others: Set<UInt32> = [
        5, 6, 7, 8, 10, 11, 200, 203, 301, 302, 304, 305, 400, 401, 402, 405, 504, 505, 506, 507, 508, 509, 600, 601,
        701, 710, 711, 712, 713, 714, 715, 716, 717, 720, 721, 722, 723, 724,
    ]
    private static let tagLimit = 64

    init(_ list: ASN1Element) throws(ASN1Error) {
        var reader = list.reader
        var seen: [UInt32] = []
        while !reader.isAtEnd {
            let start = reader.offset
            let property = try reader.next()
            guard property.tag.isContextSpecific, property.tag.isConstructed else {
                throw ASN1Error(.tagUnexpected, at: start)
            }
            guard seen.count < Self.tagLimit, !seen.contains(property.tag.number) else {
                throw ASN1Error(.valueUnexpected, at: start)
            }
            seen.append(property.tag.number)
            try read(property)
        }
    }

    private mutating func read(_ property: ASN1Element) throws(ASN1Error) {
        var content = property.reader
        switch property.tag.number {
        case 1:
            var numbers = try content.next(.set).reader
            while !numbers.isAtEnd { purposes.append(try numbers.smallInteger()) }
        case 2: algorithm = try content.smallInteger()
        case 3: keySize = try content.smallInteger()
        case 303, 703:
            try content.null()
            resistsRollback = true
        case 503:
            try content.null()
            needsNoAuthentication = true
        case 702: origin = try content.smallInteger()
        case 704: rootOfTrust = try RootOfTrust(content.next(.sequence))
        case 705: osVersion = try content.smallInteger()
        case 706: osPatchLevel = try content.smallInteger()
        case 709: application = try AttestationApplication(content.octetString())
        case 718: vendorPatchLevel = try content.smallInteger()
        case 719: bootPatchLevel = try content.smallInteger()
        case let tag:
            _ = try content.next()
            if !Self.others.contains(tag) { unknownTags.append(tag) }
        }
        try content.finish()
    }
}

/// What a device has booted (`RootOfTrust`).
public struct RootOfTrust: Sendable, Hashable {
    /// Whose system was booted, and whether it was checked.
    public enum BootState: Int, Sendable, Hashable, CaseIterable {
        /// The maker's.
        case verified = 0
        /// One that is signed by the key of another system, such as GrapheneOS.
        case selfSigned = 1
        /// Anything: the boot loader is unlocked.
        case unverified = 2
        /// The check failed.
        case failed = 3
    }

    /// SHA-256 of the key that the system is signed by; zeros or nothing where it was not checked.
    public let bootKey: [UInt8]
    /// Whether the boot loader is locked.
    public let isLocked: Bool
    /// Whose system it is.
    public let state: BootState

    /// Whether it is locked must be said in DER: a device that says it otherwise is refused.
    init(_ sequence: ASN1Element) throws(ASN1Error) {
        var fields = sequence.reader
        bootKey = Array(try fields.octetString())
        isLocked = try fields.boolean()
        let start = fields.offset
        guard let state = BootState(rawValue: try fields.enumerated()) else {
            throw ASN1Error(.valueUnexpected, at: start)
        }
        self.state = state
        // The hash of what was booted, from version 3 on.
        if !fields.isAtEnd { _ = try fields.octetString() }
        try fields.finish()
    }
}

/// Which app made a key (`AttestationApplicationId`), by the word of the system.
public struct AttestationApplication: Sendable, Hashable {
    /// One of the packages that share a user ID.
    public struct Package: Sendable, Hashable {
        /// Its name, in UTF-8.
        public let name: [UInt8]
        /// Its version code.
        public let version: Int64
    }

    /// Several where packages share a user ID.
    public let packages: [Package]
    /// SHA-256 of each certificate that they are signed with.
    public let signingDigests: [[UInt8]]

    private static let limit = 64

    init(_ bytes: ArraySlice<UInt8>) throws(ASN1Error) {
        var fields = try DERReader.single(.sequence, in: bytes).reader
        var packages = try fields.next(.set).reader
        var signers = try fields.next(.set).reader
        try fields.finish()
        var found: [Package] = []
        while !packages.isAtEnd {
            guard found.count < Self.limit else { throw ASN1Error(.tooLarge, at: packages.offset) }
            var package = try packages.next(.sequence).reader
            found.append(Package(name: Array(try package.octetString()), version: try package.int64()))
            try package.finish()
        }
        var digests: [[UInt8]] = []
        while !signers.isAtEnd {
            guard digests.count < Self.limit else { throw ASN1Error(.tooLarge, at: signers.offset) }
            digests.append(Array(try signers.octetString()))
        }
        self.packages = found
        signingDigests = digests
    }
}
