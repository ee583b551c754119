#if Simulator
internal import AssayCore
internal import AssayCrypto
internal import AssayDebug
internal import AssayDeviceCheck
internal import AssayKit
internal import AssayTesting

extension ProviderSubject {
    /// Developers who know a debug token of the app.
    static let debug = ProviderSubject(
        exchanges: [
            Exchange(
                "exchangeDebugToken", reuse: "a debug token is a secret that is good until it is removed",
                adversaries: [
                    .wrongAuthority: .impossible("nobody certifies a debug token"),
                    .otherKey: .impossible("a debug token is made with no key"),
                    .otherApp: .request(DebugReasons.unknownToken) { _ in
                        ["debugToken": .string(debugToken(.second))]
                    },
                    .untrustedDevice: .impossible("a debug token says nothing of a device"),
                    .expired: .request(DebugReasons.expiredToken) { _ in ["debugToken": .string(oldDebugToken)] },
                    .future: .impossible("a debug token has an end and no beginning"),
                    .malformed: .request(DebugReasons.unknownToken) { _ in ["debugToken": "short"] },
                    .downgraded: .impossible("a debug token has no algorithm and no levels"),
                ]
            ) { client in
                ["debugToken": .string(debugToken(client.app))]
            }
        ],
        section: { app in
            """
            tokens:
              - {name: local, sha256: \(hash(debugToken(app)))}
              - {name: old, sha256: \(hash(oldDebugToken)), expires: "2026-01-01T00:00:00Z"}
            """
        },
        wrongSections: ["tokens: [{name: local, sha256: abc}] # wrong", "tokens: [{name: local}] # wrong"],
        secretTexts: TestApp.allCases.map { debugToken($0) } + [oldDebugToken], simulator: DebugSimulator())

    private static let oldDebugToken = "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C99"

    private static func debugToken(_ app: TestApp) -> String { "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C1\(app.rawValue)" }

    private static func hash(_ token: String) -> String { Hex.encode(DebugToken.hash(of: token)) }

    /// Devices whose tokens a simulated Apple knows.
    static func deviceCheck() throws -> ProviderSubject {
        let team = try SimulatedAppleTeam(teamID: "ABCDE12345")
        let tokens = KnownDeviceTokens()
        let reasons = DeviceCheckProvider.reasons
        let judgedByApple = "Apple judges a device token, and the provider sees nothing in it"
        return ProviderSubject(
            exchanges: [
                Exchange(
                    "exchangeDeviceCheckToken", remembered: .seconds(86_400), untimed: judgedByApple,
                    sharing: "a device token is made for all apps of a team",
                    adversaries: [
                        .wrongAuthority: .impossible(judgedByApple), .otherKey: .impossible(judgedByApple),
                        .otherApp: .impossible("a device token is made for all apps of a team"),
                        .untrustedDevice: .request(reasons.bits) { _ in
                            ["deviceToken": .string(tokens.make(bit0: true))]
                        },
                        .expired: .impossible(judgedByApple), .future: .impossible(judgedByApple),
                        .malformed: .request(reasons.malformed) { _ in ["deviceToken": "no Base 64"] },
                        .downgraded: .impossible(judgedByApple),
                        Adversary("unknown", "a device token that Apple does not know gets no token"): .request(
                            reasons.refused
                        ) { _ in ["deviceToken": .string(Base64.encode(Array("unknown to Apple".utf8)))] },
                    ],
                    variants: [
                        "a device with bits": { _ in ["deviceToken": .string(tokens.make(bit0: false))] }
                    ]
                ) { _ in ["deviceToken": .string(tokens.make())] }
            ],
            section: { _ in "key_id: \(team.keyID)\nprivate_key: env:KEY\nrefuse_when: {bit0: true}" },
            wrongSections: [
                "key_id: \(team.keyID)\nprivate_key: env:MISSING # wrong",
                "key_id: short # wrong\nprivate_key: env:KEY",
            ],
            app: { _ in "apple: {team_id: ABCDE12345, bundle_id: com.example.app}" },
            secrets: SecretSource { $0.place == .environment("KEY") ? Array(team.privateKeyPEM.utf8) : nil },
            secretTexts: [team.privateKeyPEM], upstream: { tokens.answer($0) },
            denials: [UpstreamDenial("that the token is not the device's", KnownDeviceTokens.denial)],
            simulator: DeviceCheckSimulator())
    }
}
#endif
