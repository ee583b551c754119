#if Simulator
internal import AssayAndroid
internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayKit
internal import AssayPlayIntegrity
internal import AssayPolicyTools
internal import AssayTesting

/// Android devices whose tokens a simulated Google Play makes, for tests of policies.
struct PlayIntegritySimulator: EvidenceSimulator {
    let provider = "play_integrity"
    let methods = [exchange]

    private static let exchange = "exchangePlayIntegrityToken"
    private static let challenges = "generatePlayIntegrityChallenge"
    /// Longer than a challenge is good.
    private static let tooLong = Duration.seconds(400)

    let properties = [
        EvidenceProperty(
            PlayIntegrityFacts.recognition, "What Google Play says of the app; `PLAY_RECOGNIZED` when absent."),
        EvidenceProperty(PlayIntegrityFacts.level, "The highest label of the device; `device` when absent."),
        EvidenceProperty(PlayIntegrityFacts.licensing, "The licence; `LICENSED` when absent."),
        EvidenceProperty(PlayIntegrityFacts.versionCode, "The version code of the app; 42 when absent."),
        EvidenceProperty(PlayIntegrityFacts.sdkVersion, "The API level; not stated when absent."),
        EvidenceProperty(PlayIntegrityFacts.activity, "How many tokens the app has got; not stated when absent."),
        EvidenceProperty(
            PlayIntegrityFacts.accessRisk, "What other apps could do, with spaces between; not stated when absent."),
        EvidenceProperty(PlayIntegrityFacts.playProtect, "What Play Protect has found; not stated when absent."),
        EvidenceProperty(
            PlayIntegrityFacts.locationSpoofing,
            "How likely the place is false, with spaces between; not stated when absent."),
        EvidenceProperty(PlayIntegrityFacts.accountActivity, "How usual the account is; not stated when absent."),
        EvidenceProperty(PlayIntegrityFacts.testing, "Whether the answer is made up for a tester; false when absent."),
        EvidenceProperty(FactName("package", .text), "The package of the app; that of the policies when absent."),
    ]

    let changes = [
        EvidenceChange("challenge", ["expired"], "The challenge: one that is too old."),
        EvidenceChange("token", ["untrusted"], "The token: one that a key signed that nobody trusts."),
        EvidenceChange("signer", ["other"], "The app: one that somebody else has signed."),
    ]

    func begin(_ order: EvidenceOrder) throws -> EvidenceSession {
        let isLate = order.changes("challenge", "expired")
        let start = order.now - (isLate ? Self.tooLong : .zero)
        let play = try SimulatedPlayService(clock: ManualClock(start).hostClock)
        let keys = Array(play.keyFile.utf8)
        return EvidenceSession(
            overlay: [
                "response_keys": [["decryption_key": "env:KEYS", "verification_key": "env:KEYS"]],
                "service_account": nil,
            ], secrets: SecretSource { _ in keys }, start: start
        ) { calls in
            let challenge = try await calls.challenge(Self.challenges)
            let verdict = verdict(order, nonce: Base64.encodeURL(challenge), made: start)
            let token = try play.classicToken(
                verdict, signedBy: order.changes("token", "untrusted") ? .otherKey : .verificationKey)
            if isLate { calls.pass(Self.tooLong) }
            return ["playIntegrityToken": .string(token)]
        }
    }

    private func verdict(_ order: EvidenceOrder, nonce: String, made: Instant) -> SimulatedPlayVerdict {
        let android = order.app.platform(AndroidIdentity.self)
        var verdict = SimulatedPlayVerdict(
            package: order.text("package") ?? android?.package ?? "com.example.app", nonce: nonce, made: made)
        if let digest = android?.signingDigests.first { verdict.signingDigests = [digest] }
        if order.changes("signer", "other") { verdict.signingDigests = [SHA256.hash(verdict.signingDigests[0])] }
        if let recognition = order.text("play_app_recognition") {
            verdict.recognition = recognition
            if recognition.isExactly("UNEVALUATED") { verdict.package = nil }
        }
        let labels = ["MEETS_BASIC_INTEGRITY", "MEETS_DEVICE_INTEGRITY", "MEETS_STRONG_INTEGRITY"]
        if let level = order.text("play_device_level") {
            let count = ["none", "basic", "device", "strong"].firstIndex { $0.isExactly(level) } ?? 0
            verdict.labels = Array(labels.prefix(count))
        }
        verdict.licensing = order.text("play_licensing") ?? verdict.licensing
        if let code = order.integer("android_version_code") { verdict.versionCode = Int(clamping: code) }
        verdict.sdkVersion = order.integer("play_sdk_version").map { Int(clamping: $0) }
        verdict.activity = order.text("play_activity")
        verdict.appsDetected = order.text("play_access_risk").map { $0.split(onASCII: " ").map(String.init) }
        verdict.playProtect = order.text("play_protect")
        verdict.locationSpoofing = order.text("play_location_spoofing").map { $0.split(onASCII: " ").map(String.init) }
        verdict.accountActivity = order.text("play_account_activity")
        verdict.isTesting = order.bool("play_testing") ?? false
        return verdict
    }
}
#endif
