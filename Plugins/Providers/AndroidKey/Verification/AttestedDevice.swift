internal import AssayCore
internal import AssayCrypto

/// What an attestation says of a device and its key: what policies judge, at the attestation and at each assertion later.
public struct AttestedDevice: Sendable, Hashable {
    /// Where the key is.
    public var level: KeyDescription.SecurityLevel
    /// What was booted.
    public var bootState: RootOfTrust.BootState
    /// SHA-256 of the key that the booted system is signed by.
    public var bootKey: [UInt8]
    /// The version of Android as `160000`; nil for an unknown one.
    public var osVersion: Int?
    /// The last security updates, as the device states them: `202611` or `20261105`; nil for unknown ones.
    public var systemPatch: Int?
    /// That of the vendor's part.
    public var vendorPatch: Int?
    /// That of the boot loader.
    public var bootPatch: Int?
    /// How the device's certificate came to be there.
    public var provisioning: AndroidChain.Provisioning
    /// The version of the description.
    public var attestationVersion: Int
    /// The version of Keymaster or KeyMint.
    public var keyMintVersion: Int
    /// The version code of the app.
    public var versionCode: Int64?
    /// Whether the key can be used without a user who has unlocked the device.
    public var needsNoAuthentication: Bool
    /// Whether a key that was deleted cannot come back.
    public var resistsRollback: Bool
    /// What the certificates of the device may be called in a list of revoked ones, hashed.
    var revocationNames: [UInt64]

    /// What a chain says; the part of the secure hardware counts, and the system's word for the app alone.
    ///
    /// - Throws: ``AndroidKeyRefusal`` for a key in software, and for a device that contradicts itself or does not say what it booted.
    init(_ chain: AndroidChain, package: String) throws(AndroidKeyRefusal) {
        let description = chain.description
        let (level, keyLevel) = (description.attestationLevel, description.keyLevel)
        guard level != .software, keyLevel != .software else {
            throw AndroidKeyRefusal(AndroidKeyReasons.software, "attestation: \(level), key: \(keyLevel)")
        }
        guard level == keyLevel, (level == .strongBox) == chain.isStrongBox else {
            throw AndroidKeyRefusal(
                AndroidKeyReasons.levelContradicted,
                "attestation: \(level), key: \(keyLevel), certificates: \(chain.isStrongBox ? "strongBox" : "tee")")
        }
        let hardware = description.hardware
        guard let boot = hardware.rootOfTrust else { throw AndroidKeyRefusal(AndroidKeyReasons.bootUnknown) }
        guard boot.isLocked else {
            throw AndroidKeyRefusal(AndroidKeyReasons.unlocked, "boot state: \(boot.state)")
        }
        self.level = level
        bootState = boot.state
        bootKey = boot.bootKey
        osVersion = hardware.osVersion.flatMap { $0 == 0 ? nil : $0 }
        systemPatch = hardware.osPatchLevel
        vendorPatch = hardware.vendorPatchLevel
        bootPatch = hardware.bootPatchLevel
        provisioning = chain.provisioning
        attestationVersion = description.version
        keyMintVersion = description.keyMintVersion
        versionCode = description.software.application?.packages.first { $0.name.elementsEqual(package.utf8) }?.version
        needsNoAuthentication = hardware.needsNoAuthentication
        resistsRollback = hardware.resistsRollback
        revocationNames = (chain.path.dropFirst() + [chain.root].compactMap(\.self)).flatMap {
            RevocationList.names(of: $0)
        }
    }

    /// The day of a security update; nil for a level of no known form.
    static func date(ofPatch level: Int?) -> Instant? {
        guard let level else { return nil }
        let (year, month, day) =
            switch level {
            case 200_000...999_999: (level / 100, level % 100, 1)
            case 20_000_000...99_999_999: (level / 10_000, level / 100 % 100, max(level % 100, 1))
            default: (0, 0, 0)
            }
        return Instant(year: year, month: month, day: day, hour: 0, minute: 0, second: 0)
    }
}

// MARK: - The content of an artifact

/// An attested key, and what was attested of it: what a client keeps sealed, and sends with each assertion.
struct AndroidKeyArtifact: Equatable {
    /// The key on P-256: `04 ‖ X ‖ Y`.
    let publicKey: [UInt8]
    /// When the attestation was verified.
    let attested: Instant
    /// SHA-256 of the root's key.
    let root: [UInt8]
    let device: AttestedDevice

    /// The key's identifier.
    var keyID: [UInt8] { SHA256.hash(publicKey) }

    private static let version: Int64 = 1

    init(publicKey: [UInt8], attested: Instant, root: [UInt8], device: AttestedDevice) {
        self.publicKey = publicKey
        self.attested = attested
        self.root = root
        self.device = device
    }

    /// As JSON, whose members every later version reads.
    var encoded: [UInt8] {
        func number(_ name: String, _ value: Int?) -> [JSONMember] {
            value.map { [JSONMember(name, .integer(Int64($0)))] } ?? []
        }
        let members: [JSONMember] =
            [
                JSONMember("v", .integer(Self.version)), JSONMember("key", .string(Base64.encodeURL(publicKey))),
                JSONMember("root", .string(Base64.encodeURL(root))),
                JSONMember("attested", .integer(attested.milliseconds)),
                JSONMember("level", .integer(Int64(device.level.rawValue))),
                JSONMember("boot", .integer(Int64(device.bootState.rawValue))),
                JSONMember("bootKey", .string(Base64.encodeURL(device.bootKey))),
                JSONMember("remote", .bool(device.provisioning == .remote)),
                JSONMember("noAuth", .bool(device.needsNoAuthentication)),
                JSONMember("rollback", .bool(device.resistsRollback)),
                JSONMember("names", .array(device.revocationNames.map { .integer(Int64(bitPattern: $0)) })),
            ] + number("os", device.osVersion) + number("system", device.systemPatch)
            + number("vendor", device.vendorPatch) + number("bootPatch", device.bootPatch)
            + number("form", device.attestationVersion) + number("keyMint", device.keyMintVersion)
        return JSON.object(members + (device.versionCode.map { [JSONMember("code", .integer($0))] } ?? [])).encoded
    }

    init?(encoded: [UInt8]) {
        guard let json = try? JSON.parse(encoded), json["v"]?.integer == Self.version,
            let key = json["key"]?.string.flatMap({ Base64.decodeURL(utf8: Array($0.utf8)[...]) }), key.count == 65,
            let root = json["root"]?.string.flatMap({ Base64.decodeURL(utf8: Array($0.utf8)[...]) }),
            let attested = json["attested"]?.integer, let device = AttestedDevice(json)
        else { return nil }
        self.init(publicKey: key, attested: Instant(milliseconds: attested), root: root, device: device)
    }
}

extension AttestedDevice {
    fileprivate init?(_ json: JSON) {
        func number(_ name: String) -> Int? { json[name]?.integer.map { Int($0) } }
        guard let level = number("level").flatMap(KeyDescription.SecurityLevel.init(rawValue:)),
            let boot = number("boot").flatMap(RootOfTrust.BootState.init(rawValue:)),
            let bootKey = json["bootKey"]?.string.flatMap({ Base64.decodeURL(utf8: Array($0.utf8)[...]) }),
            let remote = json["remote"]?.bool,
            let noAuth = json["noAuth"]?.bool, let rollback = json["rollback"]?.bool,
            let names = json["names"]?.array
        else { return nil }
        self.level = level
        bootState = boot
        self.bootKey = bootKey
        osVersion = number("os")
        systemPatch = number("system")
        vendorPatch = number("vendor")
        bootPatch = number("bootPatch")
        provisioning = remote ? .remote : .factory
        attestationVersion = number("form") ?? 0
        keyMintVersion = number("keyMint") ?? 0
        versionCode = json["code"]?.integer
        needsNoAuthentication = noAuth
        resistsRollback = rollback
        revocationNames = names.compactMap { $0.integer.map { UInt64(bitPattern: $0) } }
    }
}
