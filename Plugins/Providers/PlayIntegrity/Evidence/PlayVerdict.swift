internal import AssayCore
internal import AssayKit

/// What Google says in a token: the payload, opened and verified (Play Integrity, "Integrity verdicts").
///
/// Words that this version does not know are kept as they are. Only a value of another type is an error.
struct PlayVerdict: Sendable {
    /// What the token is made for.
    enum Binding: Sendable {
        /// The text of a classic request.
        case nonce(String)
        /// The text of a standard request.
        case requestHash(String)

        var text: String {
            switch self {
            case .nonce(let text), .requestHash(let text): text
            }
        }
    }

    static let unevaluated = "UNEVALUATED"

    let requestPackage: String?
    /// Nil where neither is there.
    let binding: Binding?
    let made: Instant
    let recognition: String
    let package: String?
    /// As they came: SHA-256 in Base64, in the URL-safe alphabet.
    let digests: [String]
    let versionCode: Int64?
    let labels: [String]
    let sdkVersion: Int64?
    let activity: String
    /// The three bits that Google keeps of the device for the developer; nil when they were never set, and when they are not told.
    let recall: DeviceBits?
    let licensing: String
    let accountActivity: String
    /// Nil where the risk was not evaluated.
    let appsDetected: [String]?
    let playProtect: String
    /// Nil where the risk was not evaluated.
    let locationSpoofing: [String]?
    let isTesting: Bool

    /// Reads a payload.
    ///
    /// - Throws: `verdictMalformed`, with the name of the member.
    init(_ payload: JSON) throws(PlayRefusal) {
        guard payload.members != nil else { throw Self.malformed("it is no object") }
        let request = try PlayMembers(payload, "requestDetails")
        requestPackage = try request.text("requestPackageName")
        switch (try request.text("nonce"), try request.text("requestHash")) {
        case (let nonce?, nil): binding = .nonce(nonce)
        case (nil, let hash?): binding = .requestHash(hash)
        case (nil, nil): binding = nil
        case (_?, _?): throw Self.malformed("requestDetails: both nonce and requestHash")
        }
        guard let milliseconds = try request.integer("timestampMillis"), milliseconds <= 253_402_300_799_000
        else { throw Self.malformed("requestDetails.timestampMillis") }
        made = Instant(milliseconds: milliseconds)

        let app = try PlayMembers(payload, "appIntegrity")
        recognition = try app.text("appRecognitionVerdict") ?? Self.unevaluated
        package = try app.text("packageName")
        digests = try app.texts("certificateSha256Digest") ?? []
        versionCode = try app.integer("versionCode")

        let device = try PlayMembers(payload, "deviceIntegrity")
        labels = try device.texts("deviceRecognitionVerdict") ?? []
        sdkVersion = try device.part("deviceAttributes").integer("sdkVersion")
        activity = try device.part("recentDeviceActivity").text("deviceActivityLevel") ?? Self.unevaluated
        recall = try Self.bits(device.part("deviceRecall"))

        let account = try PlayMembers(payload, "accountDetails")
        licensing = try account.text("appLicensingVerdict") ?? Self.unevaluated
        accountActivity = try account.part("accountActivity").text("activityLevel") ?? Self.unevaluated

        let environment = try PlayMembers(payload, "environmentDetails")
        appsDetected = try environment.part("appAccessRiskVerdict").texts("appsDetected")
        playProtect = try environment.text("playProtectVerdict") ?? Self.unevaluated
        locationSpoofing = try environment.texts("locationSpoofingRiskVerdict")
        isTesting = try PlayMembers(payload, "testingDetails").bool("isTestingResponse")
    }

    private static func bits(_ recall: PlayMembers) throws(PlayRefusal) -> DeviceBits? {
        let values = try recall.part("values")
        guard !values.isEmpty else { return nil }
        let dates = try recall.part("writeDates")
        var latest: Int64 = 0
        for name in ["yyyymmFirst", "yyyymmSecond", "yyyymmThird"] {
            latest = max(latest, try dates.integer(name) ?? 0)
        }
        let (year, month) = (latest / 100, latest % 100)
        let isMonth = (2000...9999).contains(year) && (1...12).contains(month)
        return DeviceBits(
            bit0: try values.bool("bitFirst"), bit1: try values.bool("bitSecond"), bit2: try values.bool("bitThird"),
            lastUpdate: isMonth ? "\(year)-\(month < 10 ? "0" : "")\(month)" : nil)
    }

    /// What a device meets: the highest level that it has a label for.
    var level: PlayDeviceLevel {
        PlayDeviceLevel.allCases.last { level in level.label.map { labels.contains(exactly: $0) } ?? true } ?? .none
    }

    fileprivate static func malformed(_ place: String) -> PlayRefusal {
        PlayRefusal(PlayIntegrityReasons.verdictMalformed, place)
    }
}

/// What a device meets, lowest first.
public enum PlayDeviceLevel: String, Decodable, Sendable, CaseIterable, Comparable {
    /// Nothing is known of it.
    case none
    /// It passes basic checks, whatever its system.
    case basic
    /// It is an Android device with Google Play.
    case device
    /// The same with proof of its hardware; on Android 13 and later also with the security updates of the last year.
    case strong

    var label: String? {
        switch self {
        case .none: nil
        case .basic: "MEETS_BASIC_INTEGRITY"
        case .device: "MEETS_DEVICE_INTEGRITY"
        case .strong: "MEETS_STRONG_INTEGRITY"
        }
    }

    /// As Google's config resource writes it.
    var googleName: String { label ?? "NO_INTEGRITY" }

    /// Compares by what is demanded more.
    public static func < (left: PlayDeviceLevel, right: PlayDeviceLevel) -> Bool { left.order < right.order }

    private var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// The members of a part of a payload; a part that is absent has none.
private struct PlayMembers {
    private static let textLimit = 1024
    private static let listLimit = 64

    private let json: JSON
    private let name: String

    init(_ parent: JSON, _ name: String, in path: String = "") throws(PlayRefusal) {
        self.name = path + name
        switch parent[name] {
        case nil, .null?: json = [:]
        case .object(let members)?: json = .object(members)
        default: throw PlayVerdict.malformed(self.name)
        }
    }

    var isEmpty: Bool { json.members?.isEmpty ?? true }

    func part(_ member: String) throws(PlayRefusal) -> PlayMembers {
        try PlayMembers(json, member, in: "\(name).")
    }

    func text(_ member: String) throws(PlayRefusal) -> String? {
        switch json[member] {
        case nil, .null?: return nil
        case .string(let text)? where text.utf8.count <= Self.textLimit: return text
        default: throw PlayVerdict.malformed("\(name).\(member)")
        }
    }

    func texts(_ member: String) throws(PlayRefusal) -> [String]? {
        switch json[member] {
        case nil, .null?: return nil
        case .array(let elements)? where elements.count <= Self.listLimit:
            let texts = elements.compactMap(\.string).filter { $0.utf8.count <= Self.textLimit }
            guard texts.count == elements.count else { throw PlayVerdict.malformed("\(name).\(member)") }
            return texts
        default: throw PlayVerdict.malformed("\(name).\(member)")
        }
    }

    /// A whole number that is not negative, which Google writes as text where it has 64 bits.
    func integer(_ member: String) throws(PlayRefusal) -> Int64? {
        switch json[member] {
        case nil, .null?: return nil
        case .integer(let number)? where number >= 0: return number
        case .string(let text)?
        where (1...19).contains(text.utf8.count) && text.utf8.allSatisfy(\.isASCIIDigit):
            guard let number = Int64(text) else { throw PlayVerdict.malformed("\(name).\(member)") }
            return number
        default: throw PlayVerdict.malformed("\(name).\(member)")
        }
    }

    /// False when it is absent.
    func bool(_ member: String) throws(PlayRefusal) -> Bool {
        switch json[member] {
        case nil, .null?: return false
        case .bool(let value)?: return value
        default: throw PlayVerdict.malformed("\(name).\(member)")
        }
    }
}
