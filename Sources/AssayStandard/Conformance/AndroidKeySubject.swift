#if Simulator
internal import AssayAndroidKey
internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayTesting
internal import Synchronization

extension ProviderSubject {
    /// Devices that a simulated authority has certified.
    static func androidKey() throws -> ProviderSubject {
        let devices = try AndroidDevices()
        let challenges = AndroidDevices.challenges
        return ProviderSubject(
            exchanges: [
                Exchange(
                    AndroidDevices.attestation, challengeMethod: challenges,
                    adversaries: devices.attestationAdversaries,
                    variants: devices.variants
                ) { try devices.attestation($0) },
                Exchange(
                    AndroidDevices.assertion, challengeMethod: challenges, adversaries: devices.assertionAdversaries
                ) { try await devices.assertion($0) },
            ],
            section: { _ in
                """
                patch_age: {system: 400d, vendor: 400d, boot: 400d}
                verified_boot: self_signed
                boot_keys: {example_os: ["\(Hex.encode(AndroidDevices.bootKey))"]}
                min_os: "13"
                min_version_code: 40
                roots: "\(devices.roots)"
                """
            },
            wrongSections: [
                "roots: no certificate # wrong", "security_level: software # wrong", "min_os: \"x\" # wrong",
                "verified_boot: self_signed # wrong",
                "boot_keys: {a: []} # wrong",
                "patch_age: {system: 1s} # wrong", "revocation: {list: status.json} # wrong",
                "revocation: {stale_after: 1s} # wrong",
            ],
            app: { app in
                """
                android:
                  package: com.example.app\(app.rawValue)
                  signing_digests: ["\(Hex.encode(SimulatedAndroidState().signingDigest))"]
                """
            },
            platform: "android", upstream: { _ in AndroidDevices.list },
            noDenials: "the server of revoked certificates is asked for a list, and of no device",
            optionalMembers: ["entries.667788": "a list without a certificate is another list"],
            simulator: AndroidKeySimulator())
    }
}

/// Devices of a simulated authority, one of another authority, and what goes wrong with them.
private struct AndroidDevices: Sendable {
    static let challenges = "generateAndroidKeyChallenge"
    static let attestation = "exchangeAndroidKeyAttestation"
    static let assertion = "exchangeAndroidKeyAssertion"
    static let bootKey = [UInt8](repeating: 0xC5, count: 32)
    private static let revoked: [UInt8] = [0x66, 0x77, 0x88]
    static let list = OutboundResponse(
        status: 200, body: Array(#"{"entries": {"667788": {"status": "REVOKED", "reason": "KEY_COMPROMISE"}}}"#.utf8))

    private let authority: SimulatedAndroidAuthority
    private let remote: SimulatedAndroidAuthority
    /// An authority that nobody trusts.
    private let stranger: SimulatedAndroidAuthority
    private let now = ManualClock().now

    init() throws {
        authority = try SimulatedAndroidAuthority(now: now)
        remote = try SimulatedAndroidAuthority(now: now, provisioning: .remote)
        stranger = try SimulatedAndroidAuthority(now: now)
    }

    /// The roots that the section trusts, in one line.
    var roots: String { (authority.rootPEM + remote.rootPEM).replacing("\n", with: "\\n") }

    private func state(_ app: TestApp, _ change: (inout SimulatedAndroidState) -> Void = { _ in })
        -> SimulatedAndroidState
    {
        var state = SimulatedAndroidState()
        state.package = "com.example.app\(app.rawValue)"
        // The suite's clock stands in another month than the simulation's defaults.
        let digits = now.description.utf8.prefix(10).filter { $0 != UInt8(ascii: "-") }
        let day = digits.reduce(UInt64(0)) { $0 * 10 + UInt64($1 - UInt8(ascii: "0")) }
        (state.systemPatch, state.vendorPatch, state.bootPatch) = (day / 100, day, day)
        change(&state)
        return state
    }

    // MARK: - Attestations

    func attestation(
        _ client: TestDevice, by other: SimulatedAndroidAuthority? = nil, serial: [UInt8]? = nil,
        challenge: [UInt8]? = nil, signedBy signer: SimulatedKey? = nil, validFrom: Instant? = nil,
        _ change: (inout SimulatedAndroidState) -> Void = { _ in }
    ) throws -> JSON {
        let device = try (other ?? authority).device(
            state(client.app, change), serial: serial, validFrom: validFrom)
        let key = try device.makeKey(challenge: challenge ?? client.challenge, signedBy: signer)
        return Self.request(key.chain, client.challenge)
    }

    private static func request(_ chain: [[UInt8]], _ challenge: [UInt8]) -> JSON {
        [
            "attestationChain": .array(chain.map { .string(Base64.encode($0)) }),
            "challenge": .string(Base64.encode(challenge)),
        ]
    }

    var variants: [String: @Sendable (TestDevice) async throws -> JSON] {
        [
            "a device that was provisioned remotely": { try attestation($0, by: remote) },
            "a key in a chip of its own": { client in
                try attestation(client) { ($0.attestationLevel, $0.keyLevel) = (2, 2) }
            },
            "a system with a key of its own": { client in
                try attestation(client) { ($0.bootState, $0.bootKey) = (1, Self.bootKey) }
            },
            "a description with a tag that nobody knows": { client in
                try attestation(client) { $0.furtherHardware = DERWriter.context(799, DERWriter.integer(1)) }
            },
        ]
    }

    var attestationAdversaries: [Adversary: AdversaryEvidence<TestDevice, JSON>] {
        let reasons: [(String, String, Reason, @Sendable (inout SimulatedAndroidState) -> Void)] = [
            ("software", "a key in software gets no token", AndroidKeyReasons.software, { $0.keyLevel = 0 }),
            (
                "level", "contradictions about the hardware get no token", AndroidKeyReasons.levelContradicted,
                { $0.keyLevel = 2 }
            ),
            (
                "boot-state", "a system with an unknown key gets no token", AndroidKeyReasons.bootNotAccepted,
                { $0.bootState = 1 }
            ),
            (
                "purpose", "a key that attests others gets no token", AndroidKeyReasons.keyProperties,
                { $0.purposes = [2, 7] }
            ),
            (
                "signer", "an app that somebody else signed gets no token", AndroidKeyReasons.signerMismatch,
                { $0.signingDigest[0] ^= 1 }
            ),
            (
                "unknown-app", "an app that the system does not know gets no token",
                AndroidKeyReasons.applicationUnknown,
                { $0.package = "UnknownApplication" }
            ),
            (
                "old-app", "an old version of the app gets no token", AndroidKeyReasons.versionTooLow,
                { $0.versionCode = 39 }
            ),
            (
                "old-system", "an old version of Android gets no token", AndroidKeyReasons.systemTooOld,
                { $0.osVersion = 120_000 }
            ),
            (
                "old-patch", "a device without updates gets no token", AndroidKeyReasons.patchTooOld,
                { $0.systemPatch = 202_001 }
            ),
            (
                "no-patch", "a device that does not tell its updates gets no token", AndroidKeyReasons.patchUnknown,
                { $0.vendorPatch = nil }
            ),
            (
                "early-patch", "updates of the far future get no token", AndroidKeyReasons.patchInFuture,
                { $0.bootPatch = 29_990_101 }
            ),
        ]
        var all: [Adversary: AdversaryEvidence<TestDevice, JSON>] = [
            .wrongAuthority: .request(AndroidKeyReasons.rootUntrusted) { try attestation($0, by: stranger) },
            .otherKey: .request(AndroidKeyReasons.signatureInvalid) { client in
                try attestation(client, signedBy: SimulatedKey(.p256))
            },
            .otherApp: .request(AndroidKeyReasons.packageMismatch) { client in
                try attestation(client) { $0.package = "com.example.app1" }
            },
            .untrustedDevice: .request(AndroidKeyReasons.unlocked) { client in
                try attestation(client) { ($0.isLocked, $0.bootState) = (false, 2) }
            },
            .otherChallenge: .request(AndroidKeyReasons.challengeMismatch) { client in
                try await attestation(client, challenge: client.makeChallenge(Self.challenges))
            },
            // Factories' certificates do not end here: those of devices that are provisioned remotely do, after two weeks.
            .expired: .request(AndroidKeyReasons.certificateExpired) { client in
                try attestation(client, by: remote, validFrom: client.now - .seconds(15 * 86_400))
            },
            .future: .request(AndroidKeyReasons.certificateNotYetValid) { client in
                try attestation(client, by: remote, validFrom: client.now + .seconds(86_400))
            },
            .malformed: .request(AndroidKeyReasons.descriptionMalformed) { client in
                try attestation(client) { $0.change = { Array($0.dropLast()) } }
            },
            .downgraded: .request(AndroidKeyReasons.software) { client in
                try attestation(client) { ($0.attestationLevel, $0.keyLevel) = (0, 0) }
            },
            Adversary("revoked", "a device whose certificate is revoked gets no token"): .request(
                AndroidKeyReasons.revoked
            ) { client in try attestation(client, serial: Self.revoked) },
            Adversary("extended", "a certificate that an attested key signed gets no token"): .request(
                AndroidKeyReasons.chainExtended
            ) { client in
                let device = try authority.device(state(client.app))
                let attested = try device.makeKey(challenge: client.challenge)
                let forged = try device.makeKey(challenge: client.challenge, signedBy: attested.key)
                return Self.request([forged.chain[0]] + attested.chain, client.challenge)
            },
        ]
        for (name, rule, reason, change) in reasons {
            all[Adversary(name, rule)] = .request(reason) { client in try attestation(client, change) }
        }
        return all
    }

    // MARK: - Assertions

    /// - Parameters:
    ///   - challenge: the challenge that is signed; nil for that of the request.
    ///   - isOtherKey: whether a key signs that was not attested.
    func assertion(
        _ client: TestDevice, package: String? = nil, challenge: [UInt8]? = nil, isOtherKey: Bool = false,
        counter: UInt32 = 1, isCut: Bool = false
    ) async throws -> JSON {
        let device = try authority.device(state(client.app))
        let first = try await client.makeChallenge(Self.challenges)
        let key = try device.makeKey(challenge: first)
        let attested = try await client.call(Self.attestation, Self.request(key.chain, first))
        guard let artifact = attested["artifact"]?.string.flatMap({ Base64.decode($0) }) else {
            throw MissingField(description: "the reply to an attestation has no artifact")
        }
        let signer = isOtherKey ? try device.makeKey(challenge: first) : key
        let assertion = try signer.assertion(
            package: package ?? "com.example.app\(client.app.rawValue)", counter: counter,
            of: artifact + (challenge ?? client.challenge))
        return [
            "artifact": .string(Base64.encode(artifact)),
            "assertion": .string(Base64.encode(isCut ? assertion.dropLast(40) : assertion)),
            "challenge": .string(Base64.encode(client.challenge)),
        ]
    }

    var assertionAdversaries: [Adversary: AdversaryEvidence<TestDevice, JSON>] {
        [
            .wrongAuthority: .impossible("an assertion has no certificate: its key was attested before"),
            .otherKey: .request(AndroidKeyReasons.assertionSignature) { try await assertion($0, isOtherKey: true) },
            .otherApp: .request(AndroidKeyReasons.assertionOtherApp) {
                try await assertion($0, package: "com.example.other")
            },
            .untrustedDevice: .impossible("an assertion says nothing of the device that the attestation did not"),
            .otherChallenge: .request(AndroidKeyReasons.assertionSignature) { client in
                try await assertion(client, challenge: client.makeChallenge(Self.challenges))
            },
            .expired: .impossible("an assertion has no time but that of its challenge"),
            .future: .impossible("an assertion has no time but that of its challenge"),
            .malformed: .request(AndroidKeyReasons.assertionMalformed) { try await assertion($0, isCut: true) },
            .downgraded: .impossible("an assertion has one algorithm and one format"),
            Adversary("counter", "an assertion whose counter does not rise gets no token"): .request(
                AndroidKeyReasons.counterUsed
            ) { try await assertion($0, counter: 0) },
        ]
    }

    /// A reply that lacks something.
    private struct MissingField: Error, CustomStringConvertible {
        let description: String
    }
}
#endif
