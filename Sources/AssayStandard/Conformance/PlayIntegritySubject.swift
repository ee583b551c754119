#if Simulator
internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayPlayIntegrity
internal import AssayTesting

extension ProviderSubject {
    /// Apps whose tokens a simulated Google Play makes.
    static func playIntegrity() throws -> ProviderSubject {
        let apps = try PlayApps()
        return ProviderSubject(
            exchanges: [
                Exchange(
                    PlayApps.exchange, challengeMethod: PlayApps.challenges, adversaries: apps.classicAdversaries,
                    variants: apps.variants
                ) { try apps.classic($0) },
                Exchange(
                    PlayApps.exchange, challengeMethod: PlayApps.challenges, adversaries: apps.standardAdversaries
                ) { apps.standard($0) },
            ],
            section: { _ in
                """
                response_keys:
                  - {decryption_key: "env:KEYS", verification_key: "env:KEYS"}
                service_account: env:ACCOUNT
                min_device_level: device
                require_licensed: true
                min_version_code: 40
                min_sdk_version: 30
                refuse:
                  activity: [LEVEL_4]
                  access_risk: [UNKNOWN_CAPTURING]
                  play_protect: [HIGH_RISK]
                  location_spoofing: [HIGH_RISK_DEVICE]
                  account_activity: [UNUSUAL]
                  recall: [second]
                device_recall:
                  refuse_when: {bit2: true}
                """
            },
            wrongSections: [
                "service_account: env:MISSING # wrong", "service_account: env:KEYS # wrong",
                "service_account: env:ACCOUNT\nmin_device_level: high # wrong",
                "service_account: env:ACCOUNT\nmax_age: 1s # wrong",
                "response_keys:\n  - decryption_key: env:MISSING # wrong\n    verification_key: env:KEYS",
            ],
            app: { app in
                """
                android:
                  package: com.example.app\(app.rawValue)
                  signing_digests: ["\(Hex.encode(SimulatedAndroidState().signingDigest))"]
                """
            },
            platform: "android", secrets: apps.secrets, secretTexts: [apps.play.accountFile, apps.play.keyFile],
            upstream: { apps.play.answer($0).response },
            denials: [
                UpstreamDenial("that it does not know the token", SimulatedPlayService.error(400, "INVALID_ARGUMENT")) {
                    $0.url.path.ends(withExactly: ":decodeIntegrityToken")
                }
            ],
            undecided: [
                UpstreamDenial(
                    "that the service account may not ask", SimulatedPlayService.error(403, "PERMISSION_DENIED")
                ) {
                    $0.url.path.ends(withExactly: ":decodeIntegrityToken")
                }
            ],
            optionalMembers: [
                "token_type": "Google's access tokens are bearer tokens",
                "tokenPayloadExternal.environmentDetails": "the policy demands nothing of other apps on the device",
            ], simulator: PlayIntegritySimulator())
    }
}

/// Apps of a simulated Google Play, and what goes wrong with their tokens.
private struct PlayApps: Sendable {
    static let challenges = "generatePlayIntegrityChallenge"
    static let exchange = "exchangePlayIntegrityToken"

    let play: SimulatedPlayService
    /// One whose keys the policy does not have.
    private let stranger: SimulatedPlayService

    init() throws {
        let clock = ManualClock()
        play = try SimulatedPlayService(clock: clock.hostClock)
        stranger = try SimulatedPlayService(clock: clock.hostClock)
    }

    var secrets: SecretSource {
        let (keys, account) = (Array(play.keyFile.utf8), Array(play.accountFile.utf8))
        return SecretSource { reference in
            switch reference.place {
            case .environment("KEYS"): keys
            case .environment("ACCOUNT"): account
            default: nil
            }
        }
    }

    private func verdict(
        _ client: TestDevice, isStandard: Bool = false, _ change: (inout SimulatedPlayVerdict) -> Void
    ) -> SimulatedPlayVerdict {
        let challenge = Base64.encodeURL(client.challenge)
        var verdict = SimulatedPlayVerdict(
            package: "com.example.app\(client.app.rawValue)", nonce: isStandard ? nil : challenge, made: client.now)
        if isStandard { verdict.requestHash = challenge }
        (verdict.sdkVersion, verdict.activity, verdict.playProtect) = (35, "LEVEL_1", "NO_ISSUES")
        (verdict.appsDetected, verdict.locationSpoofing) = (["KNOWN_INSTALLED"], ["LOW_RISK_DEVICE"])
        (verdict.recall, verdict.recallMonths) = ([true, false, false], [202_611, nil, nil])
        verdict.accountActivity = "TYPICAL_BASIC"
        change(&verdict)
        return verdict
    }

    func classic(
        _ client: TestDevice, by service: SimulatedPlayService? = nil,
        signedBy signing: SimulatedPlayService.Signing = .verificationKey,
        _ change: (inout SimulatedPlayVerdict) -> Void = { _ in }
    ) throws -> JSON {
        let verdict = verdict(client, change)
        return ["playIntegrityToken": .string(try (service ?? play).classicToken(verdict, signedBy: signing))]
    }

    func standard(_ client: TestDevice, _ change: (inout SimulatedPlayVerdict) -> Void = { _ in }) -> JSON {
        ["playIntegrityToken": .string(play.standardToken(verdict(client, isStandard: true, change)))]
    }

    var variants: [String: @Sendable (TestDevice) async throws -> JSON] {
        [
            "a device with all labels": { client in
                try classic(client) {
                    $0.labels = ["MEETS_BASIC_INTEGRITY", "MEETS_DEVICE_INTEGRITY", "MEETS_STRONG_INTEGRITY"]
                }
            },
            "words that nobody knows": { client in
                try classic(client) { ($0.activity, $0.playProtect) = ("LEVEL_9", "SOME_RISK") }
            },
        ]
    }

    /// What is refused whoever opens the token.
    private static let wrong: [(Adversary, Reason, @Sendable (inout SimulatedPlayVerdict) -> Void)] = [
        (.otherApp, PlayIntegrityReasons.packageMismatch, { $0.package = "com.example.other" }),
        (.untrustedDevice, PlayIntegrityReasons.levelTooLow, { $0.labels = ["MEETS_VIRTUAL_INTEGRITY"] }),
        (.expired, PlayIntegrityReasons.tokenTooOld, { $0.made = $0.made - .seconds(700) }),
        (.future, PlayIntegrityReasons.tokenInFuture, { $0.made = $0.made + .seconds(700) }),
        (
            .malformed, PlayIntegrityReasons.verdictMalformed,
            {
                $0.change = { payload in
                    .object((payload.members ?? []) + [JSONMember("testingDetails", "no object")])
                }
            }
        ),
        (
            Adversary("signer", "an app that somebody else signed gets no token"), PlayIntegrityReasons.signerMismatch,
            { $0.signingDigests[0][0] ^= 1 }
        ),
        (
            Adversary("no-challenge", "a token for no challenge gets no token"), PlayIntegrityReasons.challengeMissing,
            { ($0.nonce, $0.requestHash) = (nil, nil) }
        ),
        (
            Adversary("unrecognized", "an app that Google Play does not know gets no token"),
            PlayIntegrityReasons.appUnrecognized, { $0.recognition = "UNRECOGNIZED_VERSION" }
        ),
        (
            Adversary("unlicensed", "a user without a licence gets no token"), PlayIntegrityReasons.unlicensed,
            { $0.licensing = "UNLICENSED" }
        ),
        (
            Adversary("testing", "an answer for testers gets no token"), PlayIntegrityReasons.testing,
            { $0.isTesting = true }
        ),
        (
            Adversary("old-app", "an old version of the app gets no token"), PlayIntegrityReasons.versionTooLow,
            { $0.versionCode = 39 }
        ),
        (
            Adversary("old-system", "an old version of Android gets no token"), PlayIntegrityReasons.systemTooOld,
            { $0.sdkVersion = 29 }
        ),
        (
            Adversary("activity", "a device with too many tokens gets no token"), PlayIntegrityReasons.activity,
            { $0.activity = "LEVEL_4" }
        ),
        (
            Adversary("access-risk", "a device on which another app looks gets no token"),
            PlayIntegrityReasons.accessRisk, { $0.appsDetected = ["UNKNOWN_CAPTURING"] }
        ),
        (
            Adversary("play-protect", "a device with a harmful app gets no token"), PlayIntegrityReasons.playProtect,
            { $0.playProtect = "HIGH_RISK" }
        ),
        (
            Adversary("location", "a device at a false place gets no token"), PlayIntegrityReasons.location,
            { $0.locationSpoofing = ["HIGH_RISK_DEVICE"] }
        ),
        (
            Adversary("account", "an unusual account gets no token"), PlayIntegrityReasons.account,
            { $0.accountActivity = "UNUSUAL" }
        ),
        (
            Adversary("recall", "a marked device gets no token"), PlayIntegrityReasons.recall,
            { $0.recall = [false, true, false] }
        ),
    ]

    private static let noOtherChallenge = "a request names no challenge beside the one in its token"

    var classicAdversaries: [Adversary: AdversaryEvidence<TestDevice, JSON>] {
        var all: [Adversary: AdversaryEvidence<TestDevice, JSON>] = [
            .wrongAuthority: .request(PlayIntegrityReasons.signatureInvalid) { try classic($0, signedBy: .otherKey) },
            .otherKey: .request(PlayIntegrityReasons.notOpened) { try classic($0, by: stranger) },
            .otherChallenge: .impossible(Self.noOtherChallenge),
            .downgraded: .request(PlayIntegrityReasons.signatureInvalid) { try classic($0, signedBy: .none) },
            Adversary("malformed-token", "a text that is no token gets no token"): .request(
                PlayIntegrityReasons.tokenMalformed
            ) { _ in ["playIntegrityToken": "a.b.c"] },
        ]
        for (kind, reason, change) in Self.wrong { all[kind] = .request(reason) { try classic($0, change) } }
        return all
    }

    var standardAdversaries: [Adversary: AdversaryEvidence<TestDevice, JSON>] {
        let judged = "Google judges a standard token, and the provider sees nothing in it"
        var all: [Adversary: AdversaryEvidence<TestDevice, JSON>] = [
            .wrongAuthority: .impossible(judged), .otherKey: .impossible(judged), .downgraded: .impossible(judged),
            .otherChallenge: .impossible(Self.noOtherChallenge),
            Adversary("unknown", "a token that Google does not know gets no token"): .request(
                PlayIntegrityReasons.refused
            ) { _ in ["playIntegrityToken": .string(String(repeating: "A", count: 300))] },
        ]
        for (kind, reason, change) in Self.wrong { all[kind] = .request(reason) { standard($0, change) } }
        return all
    }
}
#endif
