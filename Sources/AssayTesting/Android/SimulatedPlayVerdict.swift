public import AssayCore
internal import AssayCrypto

/// What a simulated Google Play says of an app, a device and a user; each part is free to be wrong.
public struct SimulatedPlayVerdict: Sendable {
    /// The package that asked.
    public var requestPackage: String
    /// The nonce of a classic request.
    public var nonce: String?
    /// The request hash of a standard request.
    public var requestHash: String?
    /// When the token was made.
    public var made: Instant
    /// What Google Play says of the app.
    public var recognition = "PLAY_RECOGNIZED"
    /// The package of the app; nil for an app that was not looked at.
    public var package: String?
    /// The SHA-256 of the certificates that the app is signed with.
    public var signingDigests = [SimulatedAndroidState().signingDigest]
    /// The version code of the app.
    public var versionCode = 42
    /// The labels of the device.
    public var labels = ["MEETS_DEVICE_INTEGRITY"]
    /// The device's API level; nil where it was not chosen in the Play Console, as what follows.
    public var sdkVersion: Int?
    /// How many tokens the app has got: `LEVEL_1`.
    public var activity: String?
    /// The three bits of the device, and the months in which those that are set were written: `202611`.
    public var recall: [Bool]?
    /// The months of the bits that are set.
    public var recallMonths: [Int?] = []
    /// The device's name at the simulated Google Play, which then says what was written of its bits.
    public var device: String?
    /// Whether the user has got the app from Google Play.
    public var licensing = "LICENSED"
    /// How usual the account is: `TYPICAL_BASIC`.
    public var accountActivity: String?
    /// What other apps could do.
    public var appsDetected: [String]?
    /// What Play Protect has found.
    public var playProtect: String?
    /// How likely the place is false.
    public var locationSpoofing: [String]?
    /// Whether the answer is made up for a tester.
    public var isTesting = false
    /// Changes the whole payload.
    public var change: @Sendable (JSON) -> JSON = { $0 }

    /// An app from Google Play on a phone of November 2026, for a classic request.
    ///
    /// - Parameters:
    ///   - package: the app's, and the one that asked.
    ///   - nonce: nil for a token without one.
    ///   - made: when the token was made.
    public init(package: String = "com.example.app", nonce: String?, made: Instant) {
        requestPackage = package
        self.package = package
        self.nonce = nonce
        self.made = made
    }

    /// The payload, as Google writes it.
    public var payload: JSON {
        var request: [JSONMember] = [JSONMember("requestPackageName", .string(requestPackage))]
        if let nonce { request.append(JSONMember("nonce", .string(nonce))) }
        if let requestHash { request.append(JSONMember("requestHash", .string(requestHash))) }
        request.append(JSONMember("timestampMillis", .string("\(made.milliseconds)")))
        var app: [JSONMember] = [JSONMember("appRecognitionVerdict", .string(recognition))]
        if let package {
            app += [
                JSONMember("packageName", .string(package)),
                JSONMember("certificateSha256Digest", .array(signingDigests.map { .string(Base64.encodeURL($0)) })),
                JSONMember("versionCode", .string("\(versionCode)")),
            ]
        }
        var device: [JSONMember] = []
        if !labels.isEmpty { device.append(JSONMember("deviceRecognitionVerdict", Self.texts(labels))) }
        if let sdkVersion {
            device.append(JSONMember("deviceAttributes", ["sdkVersion": .integer(Int64(sdkVersion))]))
        }
        if let activity {
            device.append(JSONMember("recentDeviceActivity", ["deviceActivityLevel": .string(activity)]))
        }
        if let recall {
            let names = ["bitFirst", "bitSecond", "bitThird"]
            let values = zip(names, recall).map { JSONMember($0, .bool($1)) }
            let months = zip(["yyyymmFirst", "yyyymmSecond", "yyyymmThird"], recallMonths).compactMap { name, month in
                month.map { JSONMember(name, .integer(Int64($0))) }
            }
            device.append(JSONMember("deviceRecall", ["values": .object(values), "writeDates": .object(months)]))
        }
        var account: [JSONMember] = [JSONMember("appLicensingVerdict", .string(licensing))]
        if let accountActivity {
            account.append(JSONMember("accountActivity", ["activityLevel": .string(accountActivity)]))
        }
        var environment: [JSONMember] = []
        if let appsDetected {
            environment.append(JSONMember("appAccessRiskVerdict", ["appsDetected": Self.texts(appsDetected)]))
        }
        if let playProtect { environment.append(JSONMember("playProtectVerdict", .string(playProtect))) }
        if let locationSpoofing {
            environment.append(JSONMember("locationSpoofingRiskVerdict", Self.texts(locationSpoofing)))
        }
        var payload = [
            JSONMember("requestDetails", .object(request)), JSONMember("appIntegrity", .object(app)),
            JSONMember("deviceIntegrity", .object(device)), JSONMember("accountDetails", .object(account)),
        ]
        if !environment.isEmpty { payload.append(JSONMember("environmentDetails", .object(environment))) }
        if isTesting { payload.append(JSONMember("testingDetails", ["isTestingResponse": true])) }
        return change(.object(payload))
    }

    private static func texts(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }
}
