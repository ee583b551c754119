internal import AssayAndroid
internal import AssayCore
internal import AssayCrypto
internal import AssayKit

/// What a policy demands of a genuine key and its device.
struct AndroidKeyRules: Sendable {
    private let identity: AndroidIdentity
    private let level: AndroidKeyConfiguration.Level
    private let acceptsBootKeys: Bool
    /// The names of systems, by the SHA-256 of the keys that they are signed by.
    private let bootKeys: [[UInt8]: String]
    private let ages: PatchAges?
    private let minimumSystem: AndroidVersion?
    private let minimumVersionCode: Int?
    private let provisioning: AndroidKeyConfiguration.Provisioning
    private let userAuthentication: AndroidKeyConfiguration.UserAuthentication
    private let demandsRollbackResistance: Bool

    private static let sign = 2
    private static let attestKey = 7
    private static let generated = 0
    private static let mlDSA = 4
    /// What the system says that cannot find out which app asked.
    private static let unknownApplication = Array("UnknownApplication".utf8)
    /// How far ahead a security update may be: makers name the coming month.
    private static let patchLeeway = Duration.seconds(31 * 86_400)

    init(_ configuration: AndroidKeyConfiguration, _ identity: AndroidIdentity) throws(ConfigurationError) {
        var problems = ConfigurationProblems()
        self.identity = identity
        level = configuration.securityLevel ?? .tee
        acceptsBootKeys = configuration.verifiedBoot == .selfSigned
        var names: [[UInt8]: String] = [:]
        for (name, keys) in configuration.bootKeys ?? [:] {
            if keys.isEmpty { problems.report(at: ["boot_keys", .key(name.string)], "expected at least one key") }
            for key in keys { names[key.bytes] = name.string }
        }
        bootKeys = names
        if acceptsBootKeys, names.isEmpty {
            problems.report(at: ["verified_boot"], "`self_signed` needs the keys of the systems, in `boot_keys`")
        }
        ages = configuration.patchAge
        for (key, age) in [
            ("system", ages?.system), ("vendor", ages?.vendor), ("boot", ages?.boot),
        ] as [(ConfigurationError.Component, Duration?)] {
            guard let age, !PatchAges.ages.contains(age) else { continue }
            problems.report(at: ["patch_age", key], "expected a duration from 1d to 7320d")
        }
        if let code = configuration.minimumVersionCode, !(0...2_147_483_647).contains(code) {
            problems.report(at: ["min_version_code"], "expected a number from 0 to 2147483647")
        }
        if let age = configuration.revocation?.staleAfter, !RevocationConfiguration.ages.contains(age) {
            problems.report(at: ["revocation", "stale_after"], "expected a duration from 1h to 366d")
        }
        try problems.throwIfAny()
        minimumSystem = configuration.minimumSystem
        minimumVersionCode = configuration.minimumVersionCode
        provisioning = configuration.provisioning ?? .any
        userAuthentication = configuration.userAuthentication ?? .any
        demandsRollbackResistance = configuration.rollbackResistance ?? false
    }

    /// SHA-256 of the package's name: what assertions are made for.
    var relyingPartyHash: [UInt8] { SHA256.hash(Array(identity.package.utf8)) }

    /// The name that the policy has for the key of a system.
    func name(ofBootKey key: [UInt8]) -> String? { bootKeys[key] }

    /// What an attestation says of the key and the app that made it; nothing of it changes later.
    func judge(_ chain: AndroidChain, challenge: [UInt8]) throws(AndroidKeyRefusal) -> AttestedDevice {
        let description = chain.description
        guard description.challenge == challenge else {
            throw AndroidKeyRefusal(
                AndroidKeyReasons.challengeMismatch,
                "the key's is \(Hex.encode(description.challenge.prefix(32))), expected \(Hex.encode(challenge.prefix(32)))"
            )
        }
        let device = try AttestedDevice(chain, package: identity.package)
        let hardware = description.hardware
        guard hardware.origin == Self.generated else {
            throw AndroidKeyRefusal(
                AndroidKeyReasons.keyProperties,
                "origin \(hardware.origin.map { "\($0)" } ?? "unknown"), expected \(Self.generated): generated where it is"
            )
        }
        guard hardware.purposes.contains(Self.sign), !hardware.purposes.contains(Self.attestKey) else {
            throw AndroidKeyRefusal(
                AndroidKeyReasons.keyProperties,
                "purposes \(hardware.purposes), expected \(Self.sign) and not \(Self.attestKey)")
        }
        guard hardware.algorithm != Self.mlDSA else { throw AndroidKeyRefusal(AndroidKeyReasons.keyPostQuantum) }
        try judge(description.software.application)
        return device
    }

    private func judge(_ application: AttestationApplication?) throws(AndroidKeyRefusal) {
        guard let application, !application.packages.contains(where: { $0.name == Self.unknownApplication }) else {
            throw AndroidKeyRefusal(AndroidKeyReasons.applicationUnknown)
        }
        guard application.packages.contains(where: { $0.name.elementsEqual(identity.package.utf8) }) else {
            let names = application.packages.prefix(4).map { String(decoding: $0.name.prefix(128), as: UTF8.self) }
            throw AndroidKeyRefusal(
                AndroidKeyReasons.packageMismatch, "\(names.joined(separator: ", ")), expected \(identity.package)")
        }
        // Packages that share a user ID are signed alike.
        guard !application.signingDigests.isEmpty,
            application.signingDigests.allSatisfy({ identity.signingDigests.contains($0) })
        else {
            let digests = application.signingDigests.prefix(2).map { Hex.encode($0.prefix(32)) }
            throw AndroidKeyRefusal(AndroidKeyReasons.signerMismatch, "signed with \(digests.joined(separator: ", "))")
        }
    }

    /// What the policy says of a device now.
    func judge(_ device: AttestedDevice, at now: Instant) throws(AndroidKeyRefusal) {
        if case .strongbox = level, device.level != .strongBox {
            throw AndroidKeyRefusal(AndroidKeyReasons.levelTooLow, "\(device.level.word), expected strongbox")
        }
        let isListed = device.bootState == .selfSigned && acceptsBootKeys && !bootKeys[device.bootKey].isNil
        guard device.bootState == .verified || isListed else {
            throw AndroidKeyRefusal(
                AndroidKeyReasons.bootNotAccepted,
                "\(device.bootState.word), signed by \(Hex.encode(device.bootKey.prefix(32)))")
        }
        if case .remote = provisioning, case .factory = device.provisioning {
            throw AndroidKeyRefusal(AndroidKeyReasons.notRemote)
        }
        if case .required = userAuthentication, device.needsNoAuthentication {
            throw AndroidKeyRefusal(
                AndroidKeyReasons.keyProperties, "it can be used without a user, and the policy demands one")
        }
        if demandsRollbackResistance, !device.resistsRollback {
            throw AndroidKeyRefusal(
                AndroidKeyReasons.keyProperties, "it does not resist rollback, and the policy demands it")
        }
        if let least = minimumVersionCode, (device.versionCode ?? -1) < Int64(least) {
            throw AndroidKeyRefusal(
                AndroidKeyReasons.versionTooLow,
                "\(device.versionCode.map { "\($0)" } ?? "unknown"), expected at least \(least)")
        }
        if let least = minimumSystem, (device.osVersion ?? 0) < least.number {
            throw AndroidKeyRefusal(
                AndroidKeyReasons.systemTooOld,
                "\(device.osVersion.map { AndroidVersion.text(of: $0) } ?? "unknown"), expected at least \(AndroidVersion.text(of: least.number))"
            )
        }
        try judge("system", device.systemPatch, ages?.system, now)
        try judge("vendor", device.vendorPatch, ages?.vendor, now)
        try judge("boot", device.bootPatch, ages?.boot, now)
    }

    private func judge(
        _ part: String, _ level: Int?, _ most: Duration?, _ now: Instant
    ) throws(AndroidKeyRefusal) {
        guard let most else { return }
        guard let date = AttestedDevice.date(ofPatch: level) else {
            throw AndroidKeyRefusal(AndroidKeyReasons.patchUnknown, "\(part): \(level.map { "\($0)" } ?? "not stated")")
        }
        guard date <= now + Self.patchLeeway else {
            throw AndroidKeyRefusal(AndroidKeyReasons.patchInFuture, "\(part): \(date), and it is \(now)")
        }
        guard now - date <= most else {
            let days = most.wholeSeconds / 86_400
            throw AndroidKeyRefusal(
                AndroidKeyReasons.patchTooOld, "\(part): \(date), and it is \(now), at most \(days) days")
        }
    }
}
