public import AssayCore
internal import AssayKit

/// What Google says of an app, a device and a user.
///
/// Words that this version does not know are stated as they are.
public enum PlayIntegrityFacts {
    /// Of which request the token is: a classic one, with a nonce, or a standard one, with a request hash.
    public static let kind = FactName("play_token_kind", .words(["classic", "standard"]))
    /// Who opened the token: this server, or Google.
    public static let openedBy = FactName("play_opened_by", .words(["assay", "google"]))
    /// How long ago the token was made.
    public static let tokenAge = FactName("play_token_age", .duration)
    /// `PLAY_RECOGNIZED`, `UNRECOGNIZED_VERSION` or `UNEVALUATED`.
    public static let recognition: FactName = "play_app_recognition"
    /// The version code of the app.
    public static let versionCode = FactName("android_version_code", .integer)
    /// What the device meets: the highest level that it has a label for.
    public static let level = FactName(
        "play_device_level", .words(PlayDeviceLevel.allCases.map { ExactText($0.rawValue) }))
    /// All labels of the device, in their order, with spaces between; absent when there are none.
    public static let labels: FactName = "play_device_labels"
    /// The device's API level.
    public static let sdkVersion = FactName("play_sdk_version", .integer)
    /// How many tokens the app has got on this device in the last hour: `LEVEL_1` to `LEVEL_4`, `UNEVALUATED`.
    public static let activity: FactName = "play_activity"
    /// The three bits of the device; absent when they were not evaluated or never written.
    public static let recallFirst = FactName("play_recall_first", .bool)
    /// The second bit.
    public static let recallSecond = FactName("play_recall_second", .bool)
    /// The third bit.
    public static let recallThird = FactName("play_recall_third", .bool)
    /// The month in which one of the set bits was written last, `YYYY-MM`; absent when none is set.
    public static let recallUpdated: FactName = "play_recall_updated"
    /// `LICENSED`, `UNLICENSED` or `UNEVALUATED`.
    public static let licensing: FactName = "play_licensing"
    /// `UNUSUAL`, `UNKNOWN`, `TYPICAL_BASIC`, `TYPICAL_STRONG` or `UNEVALUATED`.
    public static let accountActivity: FactName = "play_account_activity"
    /// What other apps could do, with spaces between; absent when it was not evaluated, empty for nothing.
    public static let accessRisk: FactName = "play_access_risk"
    /// Whether an app that Google Play does not know may capture the screen; absent when it was not evaluated.
    public static let unknownCaptures = FactName("play_unknown_app_captures", .bool)
    /// Whether such an app may draw over this one.
    public static let unknownOverlays = FactName("play_unknown_app_overlays", .bool)
    /// Whether such an app may control the device.
    public static let unknownControls = FactName("play_unknown_app_controls", .bool)
    /// `NO_ISSUES`, `NO_DATA`, `POSSIBLE_RISK`, `MEDIUM_RISK`, `HIGH_RISK` or `UNEVALUATED`.
    public static let playProtect: FactName = "play_protect"
    /// How likely the device's place is false, with spaces between; absent when it was not evaluated.
    public static let locationSpoofing: FactName = "play_location_spoofing"
    /// Whether the answer is made up for a tester.
    public static let testing = FactName("play_testing", .bool)

    /// All of them.
    public static let all = [
        kind, openedBy, tokenAge, recognition, versionCode, level, labels, sdkVersion, activity, recallFirst,
        recallSecond, recallThird, recallUpdated, licensing, accountActivity, accessRisk, unknownCaptures,
        unknownOverlays, unknownControls, playProtect, locationSpoofing, testing,
    ]

    /// The three bits, in their order.
    static let recallBits = [recallFirst, recallSecond, recallThird]

    /// What the payload of a token says, opened here or by Google; nothing of it is judged.
    ///
    /// - Throws: ``PlayRefusal`` where it does not have the form of a payload.
    public static func stated(in payload: JSON, isOpenedHere: Bool, at now: Instant) throws(PlayRefusal) -> [Fact] {
        of(try PlayVerdict(payload), isOpenedHere: isOpenedHere, at: now)
    }

    static func of(_ verdict: PlayVerdict, isOpenedHere: Bool, at now: Instant) -> [Fact] {
        var facts = [
            Fact(openedBy, .text(isOpenedHere ? "assay" : "google")),
            Fact(tokenAge, .duration(.seconds(max(0, (now - verdict.made).wholeSeconds)))),
            Fact(recognition, cutting: verdict.recognition), Fact(level, .text(verdict.level.rawValue)),
            Fact(activity, cutting: verdict.activity), Fact(licensing, cutting: verdict.licensing),
            Fact(accountActivity, cutting: verdict.accountActivity), Fact(playProtect, cutting: verdict.playProtect),
            Fact(testing, .bool(verdict.isTesting)),
        ]
        switch verdict.binding {
        case .nonce?: facts.append(Fact(kind, .text("classic")))
        case .requestHash?: facts.append(Fact(kind, .text("standard")))
        case nil: break
        }
        if let code = verdict.versionCode { facts.append(Fact(versionCode, .integer(code))) }
        if let version = verdict.sdkVersion { facts.append(Fact(sdkVersion, .integer(version))) }
        if let bits = verdict.recall {
            facts += bits.all.facts(recallBits)
            if let month = bits.lastUpdate { facts.append(Fact(recallUpdated, cutting: month)) }
        }
        if let apps = verdict.appsDetected {
            facts += [
                (unknownCaptures, "UNKNOWN_CAPTURING"), (unknownOverlays, "UNKNOWN_OVERLAYS"),
                (unknownControls, "UNKNOWN_CONTROLLING"),
            ].map { Fact($0, .bool(apps.contains(exactly: $1))) }
        }
        let lists = [
            (labels, verdict.labels.isEmpty ? nil : verdict.labels), (accessRisk, verdict.appsDetected),
            (locationSpoofing, verdict.locationSpoofing),
        ]
        for (name, words) in lists {
            if let words { facts.append(Fact(name, cutting: words.joined(separator: " "))) }
        }
        return facts
    }
}
