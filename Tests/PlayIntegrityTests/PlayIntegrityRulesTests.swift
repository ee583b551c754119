import AssayCore
import AssayEngine
import AssayKit
import AssayPlayIntegrity
import AssayTesting
import Testing

/// A section, a verdict, and why it is refused under it; nil for accepted.
struct PlayCase: Sendable, CustomTestStringConvertible {
    let name: String
    var section = ""
    var change: @Sendable (inout SimulatedPlayVerdict) -> Void = { _ in }
    var reason: Reason?
    var detail: String?

    var testDescription: String { name }

    static let digest = [UInt8](repeating: 7, count: 32)

    static let all: [PlayCase] = [
        PlayCase(name: "a genuine app"),
        PlayCase(
            name: "another package asked", change: { $0.requestPackage = "com.example.other" },
            reason: PlayIntegrityReasons.packageMismatch,
            detail: "the request's is com.example.other, expected com.example.app"),
        PlayCase(
            name: "another app", change: { $0.package = "com.example.other" },
            reason: PlayIntegrityReasons.packageMismatch,
            detail: "the app's is com.example.other, expected com.example.app"),
        PlayCase(
            name: "another signer", change: { $0.signingDigests = [digest] },
            reason: PlayIntegrityReasons.signerMismatch, detail: "\(Base64.encodeURL(digest)), expected "),
        PlayCase(
            name: "a signer more than are known", change: { $0.signingDigests.append(digest) },
            reason: PlayIntegrityReasons.signerMismatch),
        PlayCase(
            name: "no signer", change: { $0.signingDigests = [] }, reason: PlayIntegrityReasons.signerMismatch,
            detail: "no certificate, expected"),
        PlayCase(
            name: "a cut digest", change: { $0.signingDigests = [Array($0.signingDigests[0].dropLast())] },
            reason: PlayIntegrityReasons.signerMismatch),
        PlayCase(
            name: "no nonce", change: { $0.nonce = nil }, reason: PlayIntegrityReasons.challengeMissing,
            detail: "absent"),
        PlayCase(
            name: "a nonce that is no Base64", change: { $0.nonce = "äöü" },
            reason: PlayIntegrityReasons.challengeMissing),
        PlayCase(
            name: "a nonce and a hash", change: { $0.requestHash = $0.nonce },
            reason: PlayIntegrityReasons.verdictMalformed),
        PlayCase(
            name: "an app that Google Play does not know", change: { $0.recognition = "UNRECOGNIZED_VERSION" },
            reason: PlayIntegrityReasons.appUnrecognized, detail: "UNRECOGNIZED_VERSION, expected PLAY_RECOGNIZED"),
        PlayCase(
            name: "an app that was not looked at",
            change: {
                ($0.recognition, $0.package) = ("UNEVALUATED", nil)
            }, reason: PlayIntegrityReasons.appUnrecognized),
        PlayCase(
            name: "a word of tomorrow for the app", change: { $0.recognition = "PLAY_RECOGNIZED_2" },
            reason: PlayIntegrityReasons.appUnrecognized),
        PlayCase(
            name: "an app that Google Play need not know", section: "allow_unrecognized_version: true",
            change: { $0.recognition = "UNRECOGNIZED_VERSION" }),
        PlayCase(
            name: "an app that nobody need look at", section: "allow_unrecognized_version: true",
            change: { ($0.recognition, $0.package) = ("UNEVALUATED", nil) }),
        PlayCase(
            name: "a changed app that Google Play need not know", section: "allow_unrecognized_version: true",
            change: { ($0.recognition, $0.signingDigests) = ("UNRECOGNIZED_VERSION", [digest]) },
            reason: PlayIntegrityReasons.signerMismatch),
        PlayCase(
            name: "an app without a name that was looked at", section: "allow_unrecognized_version: true",
            change: { ($0.recognition, $0.package) = ("UNRECOGNIZED_VERSION", nil) },
            reason: PlayIntegrityReasons.packageMismatch),
        PlayCase(name: "a device without labels", change: { $0.labels = [] }),
        PlayCase(
            name: "a device without labels where a label is demanded", section: "min_device_level: basic",
            change: { $0.labels = [] }, reason: PlayIntegrityReasons.levelTooLow, detail: "none, expected basic"),
        PlayCase(
            name: "an emulator", section: "min_device_level: basic",
            change: { $0.labels = ["MEETS_VIRTUAL_INTEGRITY"] },
            reason: PlayIntegrityReasons.levelTooLow),
        PlayCase(
            name: "a basic device where more is demanded", section: "min_device_level: device",
            change: { $0.labels = ["MEETS_BASIC_INTEGRITY"] }, reason: PlayIntegrityReasons.levelTooLow),
        PlayCase(
            name: "a device where a strong one is demanded", section: "min_device_level: strong",
            reason: PlayIntegrityReasons.levelTooLow, detail: "device, expected strong"),
        PlayCase(
            name: "a strong device with its own label alone", section: "min_device_level: device",
            change: { $0.labels = ["MEETS_STRONG_INTEGRITY"] }),
        PlayCase(
            name: "a device with a label of tomorrow", section: "min_device_level: device",
            change: { $0.labels = ["MEETS_NEW_INTEGRITY", "MEETS_DEVICE_INTEGRITY"] }),
        PlayCase(name: "a user without a licence", change: { $0.licensing = "UNLICENSED" }),
        PlayCase(
            name: "a user without a licence where it is demanded", section: "require_licensed: true",
            change: { $0.licensing = "UNLICENSED" }, reason: PlayIntegrityReasons.unlicensed,
            detail: "UNLICENSED, expected LICENSED"),
        PlayCase(
            name: "a licence that was not looked at", section: "require_licensed: true",
            change: { $0.licensing = "UNEVALUATED" }, reason: PlayIntegrityReasons.unlicensed),
        PlayCase(
            name: "an old app", section: "min_version_code: 43", reason: PlayIntegrityReasons.versionTooLow,
            detail: "42, expected at least 43"),
        PlayCase(name: "an app that is new enough", section: "min_version_code: 42"),
        PlayCase(
            name: "an old system", section: "min_sdk_version: 33", change: { $0.sdkVersion = 32 },
            reason: PlayIntegrityReasons.systemTooOld, detail: "32, expected at least 33"),
        PlayCase(
            name: "an unknown system", section: "min_sdk_version: 33", reason: PlayIntegrityReasons.systemTooOld,
            detail: "unknown, expected at least 33"),
        PlayCase(name: "a tester", change: { $0.isTesting = true }, reason: PlayIntegrityReasons.testing),
        PlayCase(name: "a tester who is accepted", section: "testing: accept", change: { $0.isTesting = true }),
        PlayCase(
            name: "many tokens", section: "refuse: {activity: [LEVEL_4]}", change: { $0.activity = "LEVEL_4" },
            reason: PlayIntegrityReasons.activity, detail: "LEVEL_4, which the policy refuses"),
        PlayCase(
            name: "not so many tokens", section: "refuse: {activity: [LEVEL_4]}", change: { $0.activity = "LEVEL_3" }),
        PlayCase(
            name: "an activity that was not looked at", section: "refuse: {activity: [UNEVALUATED]}",
            reason: PlayIntegrityReasons.activity),
        PlayCase(
            name: "an app that captures", section: "refuse: {access_risk: [UNKNOWN_CAPTURING]}",
            change: { $0.appsDetected = ["KNOWN_INSTALLED", "UNKNOWN_CAPTURING"] },
            reason: PlayIntegrityReasons.accessRisk),
        PlayCase(
            name: "no other app", section: "refuse: {access_risk: [UNKNOWN_CAPTURING, UNEVALUATED]}",
            change: { $0.appsDetected = [] }),
        PlayCase(
            name: "a risk that was not looked at", section: "refuse: {access_risk: [UNEVALUATED]}",
            reason: PlayIntegrityReasons.accessRisk),
        PlayCase(
            name: "a harmful app", section: "refuse: {play_protect: [HIGH_RISK]}",
            change: { $0.playProtect = "HIGH_RISK" }, reason: PlayIntegrityReasons.playProtect),
        PlayCase(
            name: "a false place", section: "refuse: {location_spoofing: [HIGH_RISK_DEVICE]}",
            change: { $0.locationSpoofing = ["LOW_RISK_NETWORK", "HIGH_RISK_DEVICE"] },
            reason: PlayIntegrityReasons.location),
        PlayCase(
            name: "an unusual account", section: "refuse: {account_activity: [UNUSUAL]}",
            change: { $0.accountActivity = "UNUSUAL" }, reason: PlayIntegrityReasons.account),
        PlayCase(
            name: "a marked device", section: "refuse: {recall: [second]}",
            change: { $0.recall = [false, true, false] }, reason: PlayIntegrityReasons.recall,
            detail: "second, which the policy refuses"),
        PlayCase(
            name: "a device with another mark", section: "refuse: {recall: [second]}",
            change: { $0.recall = [true, false, true] }),
        PlayCase(
            name: "words of tomorrow",
            change: {
                ($0.activity, $0.playProtect, $0.licensing) = ("LEVEL_9", "SOME_RISK", "RENTED")
                ($0.appsDetected, $0.locationSpoofing) = (["SEEN_DANCING"], ["NO_RISK_MOON"])
            }),
    ]
}

@Suite("What a policy demands of Play Integrity's verdicts")
struct PlayIntegrityRulesTests {
    @Test(
        "Each is judged alike in classic and in standard tokens, with a reason and both values", arguments: PlayCase.all
    )
    func judged(_ example: PlayCase) async throws {
        let scene = try PlayScene(example.section)
        for isStandard in [false, true] {
            // What a classic token has as its nonce, a standard one has as its hash.
            let challenge = try await scene.challenge()
            var verdict = SimulatedPlayVerdict(nonce: challenge, made: scene.engine.clock.now)
            example.change(&verdict)
            if isStandard { swap(&verdict.nonce, &verdict.requestHash) }
            let token = isStandard ? scene.play.standardToken(verdict) : try scene.play.classicToken(verdict)
            let reply = await scene.send(token)
            // Google does not decode tokens for another package.
            let expected =
                isStandard && verdict.requestPackage != "com.example.app"
                ? PlayIntegrityReasons.refused : example.reason
            #expect(reply.failure?.reason == expected, "\(reply.failure?.detail ?? "")")
            #expect(reply.isAccepted == (example.reason == nil))
            if let detail = example.detail, expected == example.reason {
                #expect(scene.engine.record(of: reply)?.detail?.hasPrefix(detail) == true)
            }
        }
    }

    @Test("A token is good for ten minutes, or as long as the policy says, and not before it was made")
    func ages() async throws {
        for (section, limit) in [("", 600), ("max_age: 2m", 120)] as [(String, Int)] {
            let scene = try PlayScene(section)
            for (age, reason) in [
                (0, nil), (limit, nil), (limit + 1, PlayIntegrityReasons.tokenTooOld), (-60, nil),
                (-61, PlayIntegrityReasons.tokenInFuture),
            ] as [(Int, Reason?)] {
                let reply = try await scene.classic { $0.made = $0.made - .seconds(age) }
                #expect(reply.failure?.reason == reason, "\(section) \(age)")
            }
        }
    }

    @Test("In a project for development, testers are accepted if the policy says nothing")
    func development() async throws {
        let accepting = try PlayScene(stage: "development")
        #expect(try await accepting.classic { $0.isTesting = true }.isAccepted)
        let refusing = try PlayScene("testing: refuse", stage: "development")
        #expect(try await refusing.classic { $0.isTesting = true }.failure?.reason == PlayIntegrityReasons.testing)
    }

    @Test("All that Google says is on record, with its type")
    func facts() async throws {
        let scene = try PlayScene()
        let reply = try await scene.classic {
            ($0.labels, $0.sdkVersion) = (["MEETS_BASIC_INTEGRITY", "MEETS_DEVICE_INTEGRITY"], 35)
            ($0.activity, $0.recall, $0.accountActivity) = ("LEVEL_1", [true, false, true], "TYPICAL_BASIC")
            ($0.appsDetected, $0.playProtect) = (["KNOWN_CAPTURING", "UNKNOWN_OVERLAYS"], "NO_ISSUES")
            ($0.locationSpoofing, $0.made) = (["LOW_RISK_DEVICE"], $0.made - .seconds(7))
            $0.recallMonths = [202_612, nil, 202_701]
        }
        let facts = try #require(scene.engine.record(of: reply)).facts
        let expected: [Fact] = [
            Fact(PlayIntegrityFacts.kind, .text("classic")), Fact(PlayIntegrityFacts.openedBy, .text("assay")),
            Fact(PlayIntegrityFacts.tokenAge, .duration(.seconds(7))),
            Fact(PlayIntegrityFacts.recognition, .text("PLAY_RECOGNIZED")),
            Fact(PlayIntegrityFacts.versionCode, .integer(42)), Fact(PlayIntegrityFacts.level, .text("device")),
            Fact(PlayIntegrityFacts.labels, .text("MEETS_BASIC_INTEGRITY MEETS_DEVICE_INTEGRITY")),
            Fact(PlayIntegrityFacts.sdkVersion, .integer(35)), Fact(PlayIntegrityFacts.activity, .text("LEVEL_1")),
            Fact(PlayIntegrityFacts.recallFirst, .bool(true)), Fact(PlayIntegrityFacts.recallSecond, .bool(false)),
            Fact(PlayIntegrityFacts.recallThird, .bool(true)),
            Fact(PlayIntegrityFacts.recallUpdated, .text("2027-01")),
            Fact(PlayIntegrityFacts.licensing, .text("LICENSED")),
            Fact(PlayIntegrityFacts.accountActivity, .text("TYPICAL_BASIC")),
            Fact(PlayIntegrityFacts.accessRisk, .text("KNOWN_CAPTURING UNKNOWN_OVERLAYS")),
            Fact(PlayIntegrityFacts.unknownCaptures, .bool(false)),
            Fact(PlayIntegrityFacts.unknownOverlays, .bool(true)),
            Fact(PlayIntegrityFacts.unknownControls, .bool(false)),
            Fact(PlayIntegrityFacts.playProtect, .text("NO_ISSUES")),
            Fact(PlayIntegrityFacts.locationSpoofing, .text("LOW_RISK_DEVICE")),
            Fact(PlayIntegrityFacts.testing, .bool(false)),
        ]
        for fact in expected { #expect(facts.contains(fact), "\(fact.name)") }
        #expect(expected.count == PlayIntegrityFacts.all.count)
    }
}
