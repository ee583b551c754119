#if Simulator
internal import AssayAndroid
internal import AssayAndroidKey
internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayKit
internal import AssayPolicyTools
internal import AssayTesting

/// Android devices whose keys a simulated authority certifies, for tests of policies.
struct AndroidKeySimulator: EvidenceSimulator {
    let provider = "android_key"
    let methods = [attestation, assertion]

    private static let attestation = "exchangeAndroidKeyAttestation"
    private static let assertion = "exchangeAndroidKeyAssertion"
    private static let challenges = "generateAndroidKeyChallenge"
    /// Longer than a challenge is good.
    private static let tooLong = Duration.seconds(400)

    let properties = [
        EvidenceProperty(
            AndroidKeyFacts.level, "Where the key is; `tee` when absent."),
        EvidenceProperty(
            AndroidKeyFacts.bootState,
            """
            The state of the system that was booted. The boot loader is locked for `verified` and `self_signed`. `verified` \
            when absent.
            """),
        EvidenceProperty(
            FactName("boot_key", .digest), "SHA-256 of the key that the system is signed by, in hexadecimal digits."),
        EvidenceProperty(AndroidKeyFacts.osVersion, "The version of Android; 15 when absent."),
        EvidenceProperty(AndroidKeyFacts.patchAge, "The age of all security updates; this month's when absent."),
        EvidenceProperty(AndroidKeyFacts.provisioning, "How the device got its certificate; `factory` when absent."),
        EvidenceProperty(AndroidKeyFacts.versionCode, "The version code of the app; 42 when absent."),
        EvidenceProperty(FactName("package", .text), "The package of the app; that of the policies when absent."),
        EvidenceProperty(AndroidKeyFacts.keyAge, "How long ago the key was attested, for an assertion."),
    ]

    let changes = [
        EvidenceChange(
            "challenge", ["forged", "expired"], "The challenge: one that another service made, or one that is too old."),
        EvidenceChange(
            "certificate", ["untrusted"], of: [attestation],
            "The certificates: those of an authority that nobody trusts."),
        EvidenceChange("attestation", ["altered"], of: [attestation], "The key's certificate: one with a changed bit."),
        EvidenceChange("signer", ["other"], of: [attestation], "The app: one that somebody else has signed."),
        EvidenceChange("key", ["other"], of: [assertion], "The key that signs: one that was not attested."),
        EvidenceChange("artifact", ["altered"], of: [assertion], "The artifact: one with a changed bit."),
    ]

    func begin(_ order: EvidenceOrder) throws -> EvidenceSession {
        let isAssertion = order.method.isExactly(Self.assertion)
        let isLate = order.changes("challenge", "expired")
        let age = isAssertion ? order.duration("key_age") ?? .zero : .zero
        let start = order.now - age - (isLate ? Self.tooLong : .zero)
        let isRemote = order.text("android_provisioning").isExactly("remote")
        let authority = try SimulatedAndroidAuthority(now: start, provisioning: isRemote ? .remote : .factory)
        let stranger = try SimulatedAndroidAuthority(now: start)
        let state = state(order, at: start)
        return EvidenceSession(
            overlay: [
                "roots": .string(authority.rootPEM),
                // Nobody is asked: the list of the policies' own server is no matter of a test.
                "revocation": ["list": "https://android.example.com/status", "stale": "accept"],
            ], secrets: SecretSource { _ in nil }, start: start,
            upstream: { _ in OutboundResponse(status: 200, body: Array(#"{"entries": {}}"#.utf8)) }
        ) { calls in
            let device = try (order.changes("certificate", "untrusted") ? stranger : authority).device(state)
            let body =
                isAssertion
                ? try await assertion(calls, device, order, age: age)
                : try await attestation(calls, device, order).body
            if isLate { calls.pass(Self.tooLong) }
            return body
        }
    }

    private func state(_ order: EvidenceOrder, at now: Instant) -> SimulatedAndroidState {
        var state = SimulatedAndroidState()
        let android = order.app.platform(AndroidIdentity.self)
        state.package = order.text("package") ?? android?.package ?? state.package
        if let digest = android?.signingDigests.first { state.signingDigest = digest }
        if order.changes("signer", "other") { state.signingDigest = SHA256.hash(state.signingDigest) }
        switch order.text("android_security_level") {
        case let word? where word.isExactly("software"): (state.attestationLevel, state.keyLevel) = (0, 0)
        case let word? where word.isExactly("strongbox"): (state.attestationLevel, state.keyLevel) = (2, 2)
        default: break
        }
        let states = ["verified", "self_signed", "unverified", "failed"]
        let boot = order.text("android_boot_state").flatMap { word in states.firstIndex { $0.isExactly(word) } } ?? 0
        (state.bootState, state.isLocked) = (UInt8(boot), boot < 2)
        if let key = order.text("boot_key").flatMap({ Hex.decode($0) }) { state.bootKey = key }
        if let version = order.text("android_version") {
            let parts = version.split(onASCII: ".").map { UInt64($0) ?? 0 }
            state.osVersion = zip(parts, [10_000, 100, 1] as [UInt64]).reduce(0) { $0 + $1.0 * $1.1 }
        }
        let updated = now - (order.duration("android_patch_age") ?? .zero)
        let day = updated.description.utf8.prefix(10).filter { $0 != UInt8(ascii: "-") }
            .reduce(UInt64(0)) { $0 * 10 + UInt64($1 - UInt8(ascii: "0")) }
        (state.systemPatch, state.vendorPatch, state.bootPatch) = (day / 100, day, day)
        if let code = order.integer("android_version_code") { state.versionCode = UInt64(max(0, code)) }
        return state
    }

    private func attestation(
        _ calls: EvidenceCalls, _ device: SimulatedAndroidDevice, _ order: EvidenceOrder
    ) async throws -> (body: JSON, key: SimulatedAndroidDevice.Key) {
        var challenge = try await calls.challenge(Self.challenges)
        var key = try device.makeKey(challenge: challenge)
        if order.changes("attestation", "altered") { Self.flip(&key.chain[0]) }
        if order.changes("challenge", "forged"), order.method.isExactly(Self.attestation) { Self.flip(&challenge) }
        return (
            [
                "attestationChain": .array(key.chain.map { .string(Base64.encode($0)) }),
                "challenge": .string(Base64.encode(challenge)),
            ], key
        )
    }

    private func assertion(
        _ calls: EvidenceCalls, _ device: SimulatedAndroidDevice, _ order: EvidenceOrder, age: Duration
    ) async throws -> JSON {
        let (body, key) = try await attestation(calls, device, order)
        let reply = try await calls.call(Self.attestation, body)
        var artifact = reply["artifact"]?.string.flatMap { Base64.decode($0) } ?? []
        calls.pass(age)
        var challenge = try await calls.challenge(Self.challenges)
        if order.changes("challenge", "forged") { Self.flip(&challenge) }
        let signer = order.changes("key", "other") ? try device.makeKey(challenge: challenge) : key
        let assertion = try signer.assertion(package: device.state.package, counter: 1, of: artifact + challenge)
        if order.changes("artifact", "altered") { Self.flip(&artifact) }
        return [
            "artifact": .string(Base64.encode(artifact)), "assertion": .string(Base64.encode(assertion)),
            "challenge": .string(Base64.encode(challenge)),
        ]
    }

    /// Changes one bit near the end.
    private static func flip(_ bytes: inout [UInt8]) {
        if let last = bytes.indices.last { bytes[last] ^= 1 }
    }
}
#endif
