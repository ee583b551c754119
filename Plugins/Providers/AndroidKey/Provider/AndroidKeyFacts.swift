public import AssayCore
internal import AssayCrypto

/// What the evidence of an Android key tells beyond that it is genuine.
public enum AndroidKeyFacts {
    /// `tee` or `strongbox`.
    public static let level = FactName("android_security_level", .words(["software", "tee", "strongbox"]))
    /// Whose system was booted.
    public static let bootState = FactName(
        "android_boot_state", .words(["verified", "self_signed", "unverified", "failed"]))
    /// The name of the system that `boot_keys` has for the key that it is signed by, or this key's SHA-256.
    public static let bootKey: FactName = "android_boot_key"
    /// The version of Android.
    public static let osVersion = FactName("android_version", .version)
    /// The age of Android's last security update.
    public static let patchAge = FactName("android_patch_age", .duration)
    /// The age of the vendor's last security update.
    public static let vendorPatchAge = FactName("android_vendor_patch_age", .duration)
    /// The age of the boot loader's last security update.
    public static let bootPatchAge = FactName("android_boot_patch_age", .duration)
    /// How the device got its certificate.
    public static let provisioning = FactName("android_provisioning", .words(["factory", "remote"]))
    /// The version of the key's description.
    public static let attestationVersion = FactName("android_attestation_version", .integer)
    /// The version of Keymaster or KeyMint.
    public static let keyMintVersion = FactName("android_keymint_version", .integer)
    /// The version code of the app.
    public static let versionCode = FactName("android_version_code", .integer)
    /// Whether the key can be used without a user who has unlocked the device.
    public static let needsNoAuthentication = FactName("android_key_without_user", .bool)
    /// The key identifier: the SHA-256 of the public key, in Base 64.
    public static let keyID = FactName("key_id", .digest, identifiesAttester: true)
    /// How long ago the key was attested.
    public static let keyAge = FactName("key_age", .duration)
    /// How many keys were attested by the device's certificate in the last 30 days, at most 100.
    ///
    /// Many are a sign of a farm, or of a factory's key that has leaked. Every key of a factory is in many devices.
    public static let attesterKeys = FactName("android_attester_keys", .integer)
    /// How many certificates the device got lately from Google's servers.
    public static let issuedCertificates = FactName("android_issued_certificates", .integer)
    /// Tags of the description that this version does not know; absent when there are none.
    public static let unknownTags: FactName = "android_unknown_tags"
    /// How old the list of revoked certificates was.
    public static let revocationAge = FactName("android_revocation_age", .duration)

    /// All of them.
    public static let all = [
        level, bootState, bootKey, osVersion, patchAge, vendorPatchAge, bootPatchAge, provisioning, attestationVersion,
        keyMintVersion, versionCode, needsNoAuthentication, keyID, keyAge, attesterKeys, issuedCertificates,
        unknownTags,
        revocationAge,
    ]

    /// What was attested of a device, at an attestation and at each assertion later.
    static func of(_ device: AttestedDevice, bootKeyName: String?, at now: Instant) -> [Fact] {
        func age(_ name: FactName, _ patch: Int?) -> [Fact] {
            AttestedDevice.date(ofPatch: patch).map { [Fact(name, .duration(whole(now - $0)))] } ?? []
        }
        var facts = [
            Fact(level, .text(device.level.word)), Fact(bootState, .text(device.bootState.word)),
            Fact(provisioning, .text(device.provisioning.rawValue)),
            Fact(attestationVersion, .integer(Int64(device.attestationVersion))),
            Fact(keyMintVersion, .integer(Int64(device.keyMintVersion))),
            Fact(needsNoAuthentication, .bool(device.needsNoAuthentication)),
        ]
        let key = bootKeyName ?? (device.bootKey.isEmpty ? nil : Hex.encode(device.bootKey.prefix(64)))
        if let key { facts.append(Fact(bootKey, cutting: key)) }
        if let version = device.osVersion { facts.append(Fact(osVersion, .text(AndroidVersion.text(of: version)))) }
        if let code = device.versionCode { facts.append(Fact(versionCode, .integer(code))) }
        return facts + age(patchAge, device.systemPatch) + age(vendorPatchAge, device.vendorPatch)
            + age(bootPatchAge, device.bootPatch)
    }

    /// What the certificates and the description say, of whatever device: also of one that is refused.
    static func of(_ chain: AndroidChain) -> [Fact] {
        let (description, hardware) = (chain.description, chain.description.hardware)
        var facts = [
            Fact(level, .text(description.attestationLevel.word)),
            Fact(provisioning, .text(chain.provisioning.rawValue)),
            Fact(attestationVersion, .integer(Int64(description.version))),
            Fact(keyMintVersion, .integer(Int64(description.keyMintVersion))),
        ]
        if let boot = hardware.rootOfTrust { facts.append(Fact(bootState, .text(boot.state.word))) }
        if let version = hardware.osVersion, version != 0 {
            facts.append(Fact(osVersion, .text(AndroidVersion.text(of: version))))
        }
        return facts + beside(chain)
    }

    /// What they say beside the device.
    static func beside(_ chain: AndroidChain) -> [Fact] {
        var facts: [Fact] = []
        if let issued = chain.issuedCertificates {
            facts.append(Fact(issuedCertificates, .integer(Int64(issued))))
        }
        let tags = Set(chain.description.hardware.unknownTags + chain.description.software.unknownTags).sorted()
        if !tags.isEmpty { facts.append(Fact(unknownTags, cutting: tags.map { "\($0)" }.joined(separator: " "))) }
        return facts
    }

    static func of(_ publicKey: [UInt8], attested: Instant, at now: Instant) -> [Fact] {
        [
            Fact(keyID, .text(Base64.encode(SHA256.hash(publicKey)))), Fact(keyAge, .duration(whole(now - attested))),
        ]
    }

    static func whole(_ duration: Duration) -> Duration { .seconds(max(0, duration.wholeSeconds)) }
}

extension KeyDescription.SecurityLevel {
    /// As policies write it.
    var word: String {
        switch self {
        case .software: "software"
        case .tee: "tee"
        case .strongBox: "strongbox"
        }
    }
}

extension RootOfTrust.BootState {
    /// As facts have it.
    var word: String {
        switch self {
        case .verified: "verified"
        case .selfSigned: "self_signed"
        case .unverified: "unverified"
        case .failed: "failed"
        }
    }
}
