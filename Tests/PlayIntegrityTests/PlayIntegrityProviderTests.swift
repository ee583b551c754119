import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPlayIntegrity
import AssayPolicy
import AssayServices
import AssayTesting
import Logging
import Testing

@Suite("Play Integrity in an engine")
struct PlayIntegrityProviderTests {
    @Test("A challenge is text that Play takes as a nonce")
    func challenge() async throws {
        let scene = try PlayScene()
        let reply = try await scene.engine.call("generatePlayIntegrityChallenge", PlayScene.app).result.get()
        let text = try #require(reply["challenge"]?.string)
        #expect((16...500).contains(text.utf8.count))
        #expect(text.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
        #expect(reply["ttl"]?.string == "300s")
    }

    @Test("Each spelling of the request's fields gets a token, for one use where it says so")
    func spellings() async throws {
        let scene = try PlayScene()
        for (token, limited) in [
            ("playIntegrityToken", "limited_use"), ("play_integrity_token", "limitedUse"), ("playIntegrityToken", nil),
        ] as [(String, String?)] {
            var body = [JSONMember(token, .string(try scene.play.classicToken(try await scene.verdict())))]
            if let limited { body.append(JSONMember(limited, true)) }
            let reply = await scene.engine.call(PlayScene.exchange, PlayScene.app, .object(body))
            let answer = try reply.result.get()
            #expect(answer["token"]?.string?.isEmpty == false)
            #expect(answer["ttl"]?.string == (limited == nil ? "3600s" : "300s"))
        }
    }

    @Test("Each kind of token is accepted once, whoever opens it", arguments: PlayScene.Opening.allCases)
    func once(_ opening: PlayScene.Opening) async throws {
        let scene = try PlayScene(opening: opening)
        for isStandard in opening == .here ? [false] : [false, true] {
            let verdict = try await scene.verdict(isStandard: isStandard)
            let token = isStandard ? scene.play.standardToken(verdict) : try scene.play.classicToken(verdict)
            let reply = await scene.send(token)
            #expect(reply.isAccepted, "\(reply)")
            let opener = opening == .google || isStandard ? "google" : "assay"
            let facts = scene.engine.record(of: reply)?.facts ?? []
            #expect(facts.contains(Fact(PlayIntegrityFacts.openedBy, .text(opener))))
            #expect(facts.contains(Fact(PlayIntegrityFacts.kind, .text(isStandard ? "standard" : "classic"))))
            #expect(await scene.send(token).failure?.reason == KernelReasons.challengeAlreadyUsed)
            // Another token for the same challenge.
            let other = isStandard ? scene.play.standardToken(verdict) : try scene.play.classicToken(verdict)
            #expect(await scene.send(other).failure?.reason == KernelReasons.challengeAlreadyUsed)
        }
    }

    @Test("Of concurrent tokens for one challenge, one is accepted")
    func concurrent() async throws {
        let scene = try PlayScene()
        let verdict = try await scene.verdict()
        let tokens = try (0..<16).map { _ in try scene.play.classicToken(verdict) }
        let accepted = await withTaskGroup(of: Bool.self) { group in
            for token in tokens { group.addTask { await scene.send(token).isAccepted } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(accepted == 1)
    }

    @Test("A challenge of another service, an altered one and an old one are refused")
    func challenges() async throws {
        let scene = try PlayScene()
        let elsewhere = try await PlayScene().challenge()
        #expect(try await scene.classic { $0.nonce = elsewhere }.failure?.reason == KernelReasons.challengeForged)
        #expect(
            try await scene.classic { $0.nonce = "aGVsbG8gd29ybGQgdGhlcmU" }.failure?.reason
                == KernelReasons.challengeMalformed)
        let verdict = try await scene.verdict()
        scene.advance(by: .seconds(301))
        let late = await scene.send(try scene.play.classicToken(verdict))
        #expect(late.failure?.reason == KernelReasons.challengeExpired)
    }

    @Test("A signature by another key, or by none, is refused")
    func signatures() async throws {
        let scene = try PlayScene()
        for signing in SimulatedPlayService.Signing.allCases where signing != .verificationKey {
            let token = try scene.play.classicToken(try await scene.verdict(), signedBy: signing)
            #expect(await scene.send(token).failure?.reason == PlayIntegrityReasons.signatureInvalid)
        }
    }

    @Test("Two generations of keys open tokens at once, and each verifies its own alone")
    func generations() async throws {
        let older = try SimulatedPlayService(clock: ManualClock().hostClock)
        let pair = { (name: String) in "{decryption_key: \"env:\(name)\", verification_key: \"env:\(name)\"}" }
        let scene = try PlayScene(
            "response_keys: [\(pair("KEYS")), \(pair("OLDER"))]", opening: .google, secrets: ["OLDER": older.keyFile])
        for service in [scene.play, older] {
            #expect(await scene.send(try service.classicToken(try await scene.verdict())).isAccepted)
        }
        let mixed = try PlayScene(
            "response_keys: [{decryption_key: \"env:KEYS\", verification_key: \"env:OLDER\"}]", opening: .google,
            secrets: ["OLDER": older.keyFile])
        let token = try mixed.play.classicToken(try await mixed.verdict())
        #expect(await mixed.send(token).failure?.reason == PlayIntegrityReasons.signatureInvalid)
        let stranger = try older.classicToken(try await mixed.verdict())
        #expect(await mixed.send(stranger).failure?.reason == PlayIntegrityReasons.notOpened)
    }

    @Test("A standard token needs a service account")
    func needsGoogle() async throws {
        let scene = try PlayScene(opening: .here)
        #expect(try await scene.standard().failure?.reason == PlayIntegrityReasons.needsGoogle)
    }

    @Test("The config resource has Google's defaults, or what the policy says")
    func config() async throws {
        let name = "\(PlayScene.app)/playIntegrityConfig"
        let standard: JSON = [
            "name": .string(name), "tokenTtl": "3600s", "appIntegrity": ["allowUnrecognizedVersion": false],
            "deviceIntegrity": ["minDeviceRecognitionLevel": "NO_INTEGRITY"],
            "accountDetails": ["requireLicensed": false],
        ]
        let scene = try PlayScene()
        func call(_ method: String, _ resource: String = PlayScene.app, _ body: JSON = [:]) async -> Reply {
            await scene.engine.call(method, resource, body, credentials: PlayScene.administrator)
        }
        #expect(try await call("getPlayIntegrityConfig").result.get() == standard)
        #expect(
            try await call("batchGetPlayIntegrityConfigs", "projects/example-project", ["names": [.string(name)]])
                .result.get() == ["configs": [standard]])
        #expect(await scene.engine.call("getPlayIntegrityConfig", PlayScene.app).failure?.status == .unauthenticated)

        let strict = try PlayScene("allow_unrecognized_version: true\nmin_device_level: strong\nrequire_licensed: true")
        let reply = try await strict.engine.call(
            "getPlayIntegrityConfig", PlayScene.app, credentials: PlayScene.administrator
        ).result.get()
        #expect(reply["appIntegrity"] == ["allowUnrecognizedVersion": true])
        #expect(reply["deviceIntegrity"] == ["minDeviceRecognitionLevel": "MEETS_STRONG_INTEGRITY"])
        #expect(reply["accountDetails"] == ["requireLicensed": true])
    }

    /// An update of the config resource, and whether it says what the policy says.
    static let updates: [(mask: String, config: JSON, isSame: Bool)] = [
        ("appIntegrity.allowUnrecognizedVersion", ["appIntegrity": ["allowUnrecognizedVersion": false]], true),
        ("app_integrity.allow_unrecognized_version", [:], true),
        ("appIntegrity", ["appIntegrity": [:]], true),
        ("appIntegrity", ["appIntegrity": ["allowUnrecognizedVersion": true]], false),
        ("appIntegrity.allowUnrecognizedVersion", ["app_integrity": ["allow_unrecognized_version": true]], false),
        (
            "deviceIntegrity.minDeviceRecognitionLevel",
            ["deviceIntegrity": ["minDeviceRecognitionLevel": "NO_INTEGRITY"]], true
        ),
        (
            "deviceIntegrity", ["deviceIntegrity": ["minDeviceRecognitionLevel": "MEETS_STRONG_INTEGRITY"]], false
        ),
        ("accountDetails.requireLicensed,tokenTtl", ["tokenTtl": "3600s"], true),
        ("accountDetails.requireLicensed", ["accountDetails": ["requireLicensed": true]], false),
        ("accountDetails.other", ["accountDetails": ["other": true]], false), ("a.b.c.d.e.f", [:], false),
        (
            "*",
            [
                "appIntegrity": ["allowUnrecognizedVersion": false],
                "deviceIntegrity": ["minDeviceRecognitionLevel": "NO_INTEGRITY"],
            ], true
        ),
    ]

    @Test("An update of the config resource succeeds if it says what the policy says", arguments: updates)
    func update(_ mask: String, _ config: JSON, _ isSame: Bool) async throws {
        let scene = try PlayScene()
        let reply = await scene.engine.call(
            "updatePlayIntegrityConfig", PlayScene.app, ["updateMask": .string(mask), "config": config],
            credentials: PlayScene.administrator)
        #expect(reply.isAccepted == isSame)
        if !isSame { #expect(reply.failure?.status == .failedPrecondition) }
    }
}

@Suite("The section play_integrity")
struct PlayIntegritySectionTests {
    private static let keys = "{decryption_key: \"env:KEYS\", verification_key: \"env:KEYS\"}"

    static let wrong = [
        ("min_device_level: any", "", "min_device_level"), ("max_age: 1s", "", "max_age"),
        ("max_age: 2h", "", "max_age"), ("min_sdk_version: 3", "", "min_sdk_version"),
        ("min_version_code: -1", "", "min_version_code"), ("refuse: {activity: []}", "", "activity"),
        ("refuse: {play_protect: [HIGHRISK]}", "", "play_protect"),
        ("response_keys: []", "", "response_keys"),
        ("response_keys: [\(keys), \(keys), \(keys)]", "", "response_keys"),
        (
            "response_keys: [{decryption_key: \"env:SHORT\", verification_key: \"env:KEYS\"}]", "AAAA",
            "env:SHORT holds no key of 32 bytes"
        ),
        (
            "response_keys: [{decryption_key: \"env:KEYS\", verification_key: \"env:SHORT\"}]", "AAAA",
            "env:SHORT holds no public key on P-256"
        ),
        (
            "response_keys: [{decryption_key: \"env:MISSING\", verification_key: \"env:KEYS\"}]", "",
            "env:MISSING is not set"
        ),
        ("service_account: env:SHORT", #"{"type": "service_account"}"#, "the key file has no `client_email`"),
        ("service_account: env:MISSING", "", "env:MISSING is not set"),
        ("base_url: \"https://example.com/?a=b\"", "", "base_url"),
    ]

    @Test("Mistakes are refused at their key, and no message has a secret", arguments: wrong)
    func mistakes(_ section: String, _ secret: String, _ expected: String) {
        let opening = section.contains("response_keys") || section.contains("service_account") ? "" : nil
        do {
            let scene =
                try opening == nil
                ? PlayScene(section, opening: .google)
                : PlayScene(
                    section, opening: section.contains("service_account") ? .here : .google, secrets: ["SHORT": secret])
            Issue.record("accepted: \(scene)")
        } catch {
            #expect("\(error)".contains(expected), "\(error)")
            #expect(secret.isEmpty || !"\(error)".contains(secret))
        }
    }

    @Test("A section that opens no token is refused")
    func empty() {
        let policy = PlayScene.policy("require_licensed: true")
        #expect(throws: (any Error).self) { try TestEngine([.provider(PlayIntegrityProvider.self)], policy: policy) }
    }

    @Test("A server for production refuses testers and other servers, at their line")
    func production() throws {
        let registry = try Registry([.provider(PlayIntegrityProvider.self)], administration: .api)
        let play = try SimulatedPlayService(clock: .system)
        for (line, isRefused) in [
            ("testing: accept", true), ("testing: refuse", false), ("base_url: \"http://localhost:1\"", true),
            ("token_url: \"http://localhost:1/token\"", true), ("min_device_level: strong", false),
        ] {
            let policies = try PolicySet.load(
                [PolicyFile(name: "a.yaml", text: PlayScene.policy("service_account: env:ACCOUNT", line))])
            let host = PluginHost(
                store: MemoryStore(clock: .system), secrets: SecretSource { _ in Array(play.accountFile.utf8) },
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            var problem = ""
            do {
                _ = try policies.check(registry, host: host, refusesDevelopment: true)
            } catch {
                problem = "\(error)"
            }
            #expect(problem.isEmpty != isRefused, "\(line): \(problem)")
            if isRefused { #expect(problem.contains("a.yaml:18:"), "\(problem)") }
        }
    }
}
