internal import AssayAndroid
internal import AssayCore
internal import AssayCrypto
internal import AssayKit

/// What a policy demands of what Google says.
struct PlayIntegrityRules: Sendable {
    let allowsUnrecognized: Bool
    let level: PlayDeviceLevel
    let requiresLicence: Bool
    private let identity: AndroidIdentity
    private let maximumAge: Duration
    private let minimumVersionCode: Int64?
    private let minimumSDKVersion: Int64?
    private let refused: PlayRefusedValues?
    private let acceptsTesting: Bool
    private let refusedBits: SomeDeviceBits?

    private static let recognized = "PLAY_RECOGNIZED"
    private static let licensed = "LICENSED"
    /// For how long Google accepts a token of a device whose bits are read or set.
    private static let recallAge = Duration.seconds(14 * 86_400)
    /// How far Google's clock may be ahead.
    private static let skew = Duration.seconds(60)

    init(
        _ configuration: PlayIntegrityConfiguration, _ identity: AndroidIdentity, stage: ProjectStage
    ) throws(ConfigurationError) {
        var problems = ConfigurationProblems()
        if let age = configuration.maximumAge, !PlayIntegrityConfiguration.ages.contains(age) {
            problems.report(at: ["max_age"], "expected a duration from 30s to 1h")
        }
        for (key, value, range) in [
            ("min_version_code", configuration.minimumVersionCode, PlayIntegrityConfiguration.versionCodes),
            ("min_sdk_version", configuration.minimumSDKVersion, PlayIntegrityConfiguration.sdkVersions),
        ] as [(ConfigurationError.Component, Int?, ClosedRange<Int>)] {
            guard let value, !range.contains(value) else { continue }
            problems.report(at: [key], "expected a number from \(range.lowerBound) to \(range.upperBound)")
        }
        for (key, isEmpty) in configuration.refuse?.emptiness ?? [] where isEmpty {
            problems.report(at: ["refuse", key], "expected at least one value")
        }
        refusedBits = configuration.deviceRecall?.refuseWhen.map { SomeDeviceBits([$0.bit0, $0.bit1, $0.bit2]) }
        if refusedBits?.isEmpty ?? false {
            problems.report(
                at: ["device_recall", "refuse_when"],
                "expected `bit0`, `bit1` or `bit2`: otherwise every device with bits is refused")
        }
        try problems.throwIfAny()
        self.identity = identity
        allowsUnrecognized = configuration.allowUnrecognizedVersion ?? false
        level = configuration.minimumLevel ?? .none
        requiresLicence = configuration.requireLicensed ?? false
        maximumAge = configuration.maximumAge ?? PlayIntegrityConfiguration.standardAge
        minimumVersionCode = configuration.minimumVersionCode.map(Int64.init)
        minimumSDKVersion = configuration.minimumSDKVersion.map(Int64.init)
        refused = configuration.refuse
        acceptsTesting = configuration.testing.map { $0 == .accept } ?? (stage == .development)
    }

    /// Judges what Google says, in the order that its documentation recommends: the app's name, the challenge, the age, then the rest.
    ///
    /// - Parameter isClassic: whether the token has the form of classic ones, whose challenge is the nonce.
    /// - Returns: the challenge that the token was made for.
    func judge(_ verdict: PlayVerdict, isClassic: Bool, at now: Instant) throws(PlayRefusal) -> [UInt8] {
        try judgeRequest(verdict)
        if isClassic, case .requestHash? = verdict.binding {
            throw PlayRefusal(
                PlayIntegrityReasons.challengeMissing, "a classic token with a request hash, expected a nonce")
        }
        guard let binding = verdict.binding, let challenge = Base64.decode(binding.text), !challenge.isEmpty else {
            throw PlayRefusal(PlayIntegrityReasons.challengeMissing, PlayRefusal.quoted(verdict.binding?.text))
        }
        try judgeTime(verdict, atMost: maximumAge, at: now)
        try judgeApp(verdict)
        guard verdict.level >= level else {
            throw PlayRefusal(
                PlayIntegrityReasons.levelTooLow, "\(verdict.level.rawValue), expected \(level.rawValue)")
        }
        guard !requiresLicence || verdict.licensing.isExactly(Self.licensed) else {
            throw PlayRefusal(
                PlayIntegrityReasons.unlicensed, "\(PlayRefusal.quoted(verdict.licensing)), expected \(Self.licensed)")
        }
        if let least = minimumSDKVersion, (verdict.sdkVersion ?? -1) < least {
            throw PlayRefusal(
                PlayIntegrityReasons.systemTooOld,
                "\(verdict.sdkVersion.map { "\($0)" } ?? "unknown"), expected at least \(least)")
        }
        try refused?.judge(verdict)
        if let refusedBits, let bits = verdict.recall, refusedBits.matches(bits) {
            throw PlayRefusal(PlayIntegrityReasons.recall, "\(bits.all), and the policy refuses \(refusedBits)")
        }
        return challenge
    }

    /// Judges whether a caller may read the bits of a token's device: the token may be for any challenge.
    func judgeForBits(_ verdict: PlayVerdict, at now: Instant) throws(PlayRefusal) {
        try judgeRequest(verdict)
        try judgeTime(verdict, atMost: Self.recallAge, at: now)
    }

    private func judgeRequest(_ verdict: PlayVerdict) throws(PlayRefusal) {
        guard verdict.requestPackage.isExactly(identity.package) else {
            throw PlayRefusal(
                PlayIntegrityReasons.packageMismatch,
                "the request's is \(PlayRefusal.quoted(verdict.requestPackage)), expected \(identity.package)")
        }
    }

    /// The age of a token, and whether its answer is made up.
    private func judgeTime(
        _ verdict: PlayVerdict, atMost maximumAge: Duration, at now: Instant
    ) throws(PlayRefusal) {
        guard verdict.made <= now + Self.skew else {
            throw PlayRefusal(PlayIntegrityReasons.tokenInFuture, "\(verdict.made), and it is \(now)")
        }
        guard now - verdict.made <= maximumAge else {
            throw PlayRefusal(
                PlayIntegrityReasons.tokenTooOld,
                "\(verdict.made), and it is \(now), at most \(maximumAge.wholeSeconds) s")
        }
        guard !verdict.isTesting || acceptsTesting else { throw PlayRefusal(PlayIntegrityReasons.testing) }
    }

    private func judgeApp(_ verdict: PlayVerdict) throws(PlayRefusal) {
        guard allowsUnrecognized || verdict.recognition.isExactly(Self.recognized) else {
            throw PlayRefusal(
                PlayIntegrityReasons.appUnrecognized,
                "\(PlayRefusal.quoted(verdict.recognition)), expected \(Self.recognized)")
        }
        // Google names the app except where it has not looked at it.
        let isNamed = !verdict.recognition.isExactly(PlayVerdict.unevaluated)
        if isNamed || !verdict.package.isNil {
            guard verdict.package.isExactly(identity.package) else {
                throw PlayRefusal(
                    PlayIntegrityReasons.packageMismatch,
                    "the app's is \(PlayRefusal.quoted(verdict.package)), expected \(identity.package)")
            }
        }
        if isNamed || !verdict.digests.isEmpty {
            let digests = verdict.digests.map { Base64.decode($0) ?? [] }
            guard !digests.isEmpty, digests.allSatisfy({ identity.signingDigests.contains($0) }) else {
                let texts = verdict.digests.prefix(2).map { PlayRefusal.quoted($0) }.joined(separator: ", ")
                let expected = identity.signingDigests.prefix(2).map { Base64.encodeURL($0) }.joined(separator: ", ")
                throw PlayRefusal(
                    PlayIntegrityReasons.signerMismatch,
                    "\(texts.isEmpty ? "no certificate" : texts), expected \(expected)")
            }
        }
        if let least = minimumVersionCode, (verdict.versionCode ?? -1) < least {
            throw PlayRefusal(
                PlayIntegrityReasons.versionTooLow,
                "\(verdict.versionCode.map { "\($0)" } ?? "unknown"), expected at least \(least)")
        }
    }
}

extension PlayRefusedValues {
    /// Whether a list has no value, by its key.
    fileprivate var emptiness: [(ConfigurationError.Component, Bool)] {
        [
            ("activity", activity?.isEmpty ?? false), ("access_risk", accessRisk?.isEmpty ?? false),
            ("play_protect", playProtect?.isEmpty ?? false),
            ("location_spoofing", locationSpoofing?.isEmpty ?? false),
            ("account_activity", accountActivity?.isEmpty ?? false), ("recall", recall?.isEmpty ?? false),
        ]
    }

    fileprivate func judge(_ verdict: PlayVerdict) throws(PlayRefusal) {
        let unevaluated = [PlayVerdict.unevaluated]
        try Self.judge([verdict.activity], activity, PlayIntegrityReasons.activity)
        try Self.judge(verdict.appsDetected ?? unevaluated, accessRisk, PlayIntegrityReasons.accessRisk)
        try Self.judge([verdict.playProtect], playProtect, PlayIntegrityReasons.playProtect)
        try Self.judge(verdict.locationSpoofing ?? unevaluated, locationSpoofing, PlayIntegrityReasons.location)
        try Self.judge([verdict.accountActivity], accountActivity, PlayIntegrityReasons.account)
        let bits = verdict.recall.map { [(Bit.first, $0.bit0), (.second, $0.bit1), (.third, $0.bit2 ?? false)] } ?? []
        try Self.judge(bits.filter(\.1).map(\.0.rawValue), recall, PlayIntegrityReasons.recall)
    }

    /// - Parameters:
    ///   - found: what Google says.
    ///   - refused: what is refused; nil for nothing.
    private static func judge<Word: RawRepresentable>(
        _ found: [String], _ refused: [Word]?, _ reason: Reason
    ) throws(PlayRefusal) where Word.RawValue == String {
        guard let refused, let word = refused.first(where: { found.contains(exactly: $0.rawValue) }) else { return }
        throw PlayRefusal(reason, "\(word.rawValue), which the policy refuses")
    }
}
