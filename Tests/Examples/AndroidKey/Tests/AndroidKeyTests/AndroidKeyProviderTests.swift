import AndroidKey
import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayTesting
import Testing

@Suite("The provider android_key")
struct AndroidKeyProviderTests {
    private static let section = """
        android_key:
          package: com.example.app
          signing_certificates: [\(Hex.encode(SimulatedAndroid.signer))]
          roots: [env:ROOT]
          minimum_patch_level: 202601
        """

    private let android: SimulatedAndroid
    private let engine: TestEngine

    init() throws {
        let android = try SimulatedAndroid(now: ManualClock().hostClock.now)
        self.android = android
        engine = try TestEngine(
            [.provider(AndroidKeyProvider.self)], policy: TestEngine.policy(providers: Self.section),
            secrets: SecretSource { _ in Array(android.rootPEM.utf8) })
    }

    private func exchange(_ change: (inout SimulatedAndroid.Description) -> Void = { _ in }) async throws -> Reply {
        let challenge = try await engine.challenge("generateAndroidKeyChallenge")
        var description = SimulatedAndroid.Description(challenge: challenge)
        change(&description)
        let chain = try android.chain(description)
        return await engine.call(
            "exchangeAndroidKey", TestEngine.app,
            [
                "challenge": .string(Base64.encode(challenge)),
                "chain": .array(chain.map { .string(Base64.encode($0)) }),
            ])
    }

    @Test("A key that the app made in the hardware of a device becomes a token")
    func genuine() async throws {
        let reply = try await exchange()
        let message = try reply.result.get()
        #expect(message["token"]?.string?.isEmpty == false)
        let facts = engine.record(of: reply)?.facts.map { "\($0.name)=\($0.value)" }
        #expect(facts == ["android_security_level=trusted_environment", "android_patch_level=202611"])
    }

    typealias Change = @Sendable (inout SimulatedAndroid.Description) -> Void

    private static let changes: [(String, Change)] = [
        ("android_key_challenge_wrong", { $0.challenge = [1] }),
        ("android_key_software", { $0.level = 0 }),
        ("android_key_app_wrong", { $0.package = "com.example.other" }),
        ("android_key_app_wrong", { $0.signer = [UInt8](repeating: 1, count: 32) }),
        ("android_key_device_unlocked", { $0.isLocked = false }),
        ("android_key_device_unlocked", { $0.bootState = 2 }),
        ("android_key_patch_level_old", { $0.patchLevel = 202_512 }),
        ("android_key_patch_level_old", { $0.patchLevel = nil }),
    ]

    @Test("What the device says of the key is judged", arguments: changes)
    func refused(reason: String, change: Change) async throws {
        let reply = try await exchange(change)
        guard case .refused(let found)? = engine.record(of: reply)?.outcome else {
            Issue.record("it was not refused: \(reply.result)")
            return
        }
        #expect(found.code == reason)
    }

    private static func package(_ app: TestApp) -> String { "com.example.app\(app.rawValue)" }

    private static func body(
        _ client: TestDevice, _ android: SimulatedAndroid,
        _ change: (inout SimulatedAndroid.Description) -> Void = { _ in }
    ) throws -> JSON {
        var description = SimulatedAndroid.Description(challenge: client.challenge)
        description.package = package(client.app)
        change(&description)
        return [
            "challenge": .string(Base64.encode(client.challenge)),
            "chain": .array(try android.chain(description).map { .string(Base64.encode($0)) }),
        ]
    }

    /// - Parameter stranger: devices of an authority that the policy does not trust.
    private static func adversaries(
        _ android: SimulatedAndroid, _ stranger: SimulatedAndroid
    ) -> [Adversary: AdversaryEvidence<TestDevice, JSON>] {
        [
            .wrongAuthority: .request { try body($0, stranger) },
            .otherKey: .impossible("the key that is attested is the only one of the evidence"),
            .otherApp: .request { try body($0, android) { $0.package = package(.second) } },
            .untrustedDevice: .request { try body($0, android) { $0.isLocked = false } },
            .otherChallenge: .request { client in
                let other = try await client.makeChallenge("generateAndroidKeyChallenge")
                return try body(client, android) { $0.challenge = other }
            },
            .expired: .request { try body($0, android) { $0.validFrom = .seconds(-7200) } },
            .future: .request { try body($0, android) { $0.validFrom = .seconds(3600) } },
            .malformed: .request { try body($0, android) { $0.isCut = true } },
            .downgraded: .request { try body($0, android) { $0.level = 0 } },
            Adversary("old-patch", "evidence of a device with an old patch level gets no token"): .request {
                try body($0, android) { $0.patchLevel = 202_512 }
            },
        ]
    }

    @Test("The provider keeps every rule")
    func conformance() async throws {
        let android = try SimulatedAndroid(now: ManualClock().hostClock.now)
        let pem = Array(android.rootPEM.utf8)
        let certificates = Hex.encode(SimulatedAndroid.signer)
        let subject = ProviderSubject(
            exchanges: [
                ProviderSubject.Exchange(
                    "exchangeAndroidKey", challengeMethod: "generateAndroidKeyChallenge",
                    adversaries: Self.adversaries(android, try SimulatedAndroid(now: ManualClock().hostClock.now))
                ) { try Self.body($0, android) }
            ],
            section: { app in
                """
                package: \(Self.package(app))
                signing_certificates: [\(certificates)]
                roots: [env:ROOT]
                minimum_patch_level: 202601
                """
            },
            wrongSections: [
                "package: com.example.app\nsigning_certificates: [abc] # wrong\nroots: [env:ROOT]",
                "package: com.example.app\nsigning_certificates: [\(certificates)]\nroots: [env:MISSING] # wrong",
            ],
            platform: "android",
            secrets: SecretSource { reference in
                if case .environment("ROOT") = reference.place { pem } else { nil }
            })
        let failures = await AttestationProviderSuite(AndroidKeyProvider.self, subject).report(.quick).failures
        #expect(failures == [])
    }
}
