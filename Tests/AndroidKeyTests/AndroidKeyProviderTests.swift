import AssayAndroid
import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayYAML
import Foundation
import Logging
import Synchronization
import Testing

@testable import AssayAndroidKey

/// A phone, its authority, and a server that takes its keys.
struct AndroidScene {
    /// The list of revoked certificates, as a server has it.
    final class StatusServer: Sendable {
        private let state = Mutex((body: #"{"entries": {}}"#, status: 200, asked: 0, tag: "\"1\""))

        func answer(_ request: OutboundRequest) -> OutboundResponse {
            state.withLock { state in
                state.asked += 1
                let headers = [
                    OutboundHeader("ETag", state.tag), OutboundHeader("Cache-Control", "public, max-age=600"),
                ]
                if state.status == 200, request.header("If-None-Match") == state.tag {
                    return OutboundResponse(status: 304, headers: headers)
                }
                return OutboundResponse(status: state.status, headers: headers, body: Array(state.body.utf8))
            }
        }

        /// Lists a certificate.
        func revoke(_ serial: String) {
            state.withLock { ($0.body, $0.tag) = (#"{"entries": {"\#(serial)": {"status": "REVOKED"}}}"#, "\"2\"") }
        }

        /// Lists none any more.
        func restore() { state.withLock { ($0.body, $0.tag) = (#"{"entries": {}}"#, "\"3\"") } }

        func fail(_ status: Int) { state.withLock { $0.status = status } }

        var asked: Int { state.withLock { $0.asked } }
    }

    static let app = "projects/1234567890/apps/1:1234567890:android:321abc456def7890"
    static let administrator = "administrator-token-0123456789"
    let status = StatusServer()
    let authority: SimulatedAndroidAuthority
    let engine: TestEngine

    init(
        _ section: String = "", provisioning: SimulatedAndroidAuthority.Provisioning = .factory,
        rules: String = ""
    ) throws {
        authority = try SimulatedAndroidAuthority(now: ManualClock().now, provisioning: provisioning)
        let status = status
        engine = try TestEngine(
            [.provider(AndroidKeyProvider.self)], policy: Self.policy(section, rules, authority),
            http: ScriptedHTTP { request in status.answer(request) })
    }

    static func policy(_ section: String, _ rules: String = "", _ authority: SimulatedAndroidAuthority) -> String {
        let roots = "roots: \"\(authority.rootPEM.replacing("\n", with: "\\n"))\""
        let lines = (section.isEmpty ? [] : section.split(separator: "\n").map(String.init)) + [roots]
        return """
            tokens: {algorithm: ES256}
            callers:
              administrator: {sha256: \(Hex.encode(SHA256.hash(Array(administrator.utf8)))), permissions: [admin]}
            projects:
              - number: 1234567890
                id: example-project
                apps:
                  - id: 1:1234567890:android:321abc456def7890
                    android:
                      package: com.example.app
                      signing_digests: ["\(Hex.encode(SimulatedAndroidState().signingDigest))"]
                    providers:
                      android_key:
            \(lines.map { "            \($0)" }.joined(separator: "\n"))
            \(rules)
            """
    }

    /// A phone of today.
    var state: SimulatedAndroidState {
        var state = SimulatedAndroidState()
        let day = engine.clock.now.description.utf8.prefix(10).filter { $0 != UInt8(ascii: "-") }
            .reduce(UInt64(0)) { $0 * 10 + UInt64($1 - UInt8(ascii: "0")) }
        (state.systemPatch, state.vendorPatch, state.bootPatch) = (day / 100, day, day)
        return state
    }

    func challenge() async throws -> [UInt8] { try await engine.challenge("generateAndroidKeyChallenge", Self.app) }

    /// Attests a new key of a device.
    func attest(
        _ device: SimulatedAndroidDevice, change: ([[UInt8]]) -> [[UInt8]] = { $0 }
    ) async throws -> (reply: Reply, key: SimulatedAndroidDevice.Key) {
        let challenge = try await challenge()
        let key = try device.makeKey(challenge: challenge)
        let reply = await engine.call(
            "exchangeAndroidKeyAttestation", Self.app,
            [
                "attestationChain": .array(change(key.chain).map { .string(Base64.encode($0)) }),
                "challenge": .string(Base64.encode(challenge)),
            ])
        return (reply, key)
    }

    func assert(
        _ key: SimulatedAndroidDevice.Key, _ artifact: [UInt8], counter: UInt32, package: String = "com.example.app"
    ) async throws -> Reply {
        let challenge = try await challenge()
        let assertion = try key.assertion(package: package, counter: counter, of: artifact + challenge)
        return await engine.call(
            "exchangeAndroidKeyAssertion", Self.app,
            [
                "artifact": .string(Base64.encode(artifact)), "assertion": .string(Base64.encode(assertion)),
                "challenge": .string(Base64.encode(challenge)),
            ])
    }

    /// Why a device is refused; nil for an accepted one.
    func refusal(
        _ change: (inout SimulatedAndroidState) -> Void = { _ in }
    ) async throws -> Reason? {
        var state = state
        change(&state)
        return Self.reason(try await attest(authority.device(state)).reply)
    }

    static func reason(_ reply: Reply) -> Reason? {
        if case .failure(let failure) = reply.result { failure.reason } else { nil }
    }

    static func artifact(_ reply: Reply) throws -> [UInt8] {
        try #require(try reply.result.get()["artifact"]?.string.flatMap { Base64.decode($0) })
    }
}

@Suite("A provider for keys of Android devices") struct AndroidKeyProviderTests {
    @Test("Settings refuse what they say")
    func settings() async throws {
        typealias Reasons = AndroidKeyReasons
        let phone = try AndroidScene()
        #expect(try await phone.refusal() == nil)
        #expect(try await phone.refusal { $0.needsNoAuthentication = false } == nil)
        #expect(try await phone.refusal { ($0.attestationLevel, $0.keyLevel) = (2, 2) } == nil)
        #expect(try await phone.refusal { $0.osVersion = nil } == nil)
        #expect(try await phone.refusal { $0.systemPatch = 200_001 } == nil, "any age")
        #expect(try await phone.refusal { $0.origin = 2 } == Reasons.keyProperties)
        #expect(try await phone.refusal { $0.purposes = [3] } == Reasons.keyProperties)
        #expect(try await phone.refusal { ($0.bootState, $0.bootKey) = (1, [1]) } == Reasons.bootNotAccepted)
        #expect(try await phone.refusal { $0.bootState = 3 } == Reasons.bootNotAccepted)
        #expect(try await AndroidScene("security_level: strongbox").refusal() == Reasons.levelTooLow)
        #expect(try await AndroidScene("provisioning: remote").refusal() == Reasons.notRemote)
        #expect(try await AndroidScene("provisioning: remote", provisioning: .remote).refusal() == nil)
        #expect(try await AndroidScene("user_authentication: required").refusal() == Reasons.keyProperties)
        #expect(
            try await AndroidScene("user_authentication: required").refusal { $0.needsNoAuthentication = false } == nil)
        #expect(try await AndroidScene("rollback_resistance: true").refusal() == Reasons.keyProperties)
        #expect(
            try await AndroidScene("rollback_resistance: true").refusal {
                $0.furtherHardware = DERWriter.context(303, DERWriter.null)
            } == nil)
        let patched = try AndroidScene("patch_age: {vendor: 90d}")
        #expect(try await patched.refusal() == nil)
        #expect(try await patched.refusal { $0.vendorPatch = 0 } == Reasons.patchUnknown)
        #expect(try await patched.refusal { $0.vendorPatch = 202_001 } == Reasons.patchTooOld)
        #expect(try await patched.refusal { $0.vendorPatch = 209_901 } == Reasons.patchInFuture)
    }

    @Test("A key of another kind than P-256 is refused by its kind", arguments: [true, false])
    func kinds(isPostQuantum: Bool) async throws {
        let scene = try AndroidScene()
        var state = scene.state
        if isPostQuantum {
            state.change = { description in
                // The algorithm, in the hardware's list.
                let (ec, mlDSA) = (
                    DERWriter.context(2, DERWriter.integer(3)), DERWriter.context(2, DERWriter.integer(4))
                )
                return Self.replacing(ec, with: mlDSA, in: description)
            }
            let reply = try await scene.attest(scene.authority.device(state)).reply
            #expect(AndroidScene.reason(reply) == AndroidKeyReasons.keyPostQuantum)
        } else {
            let challenge = try await scene.challenge()
            let key = try SimulatedRSAKey()
            let chain = try scene.authority.device(state).makeKey(challenge: challenge, publicKey: key.subjectPublicKey)
                .chain
            let reply = await scene.engine.call(
                "exchangeAndroidKeyAttestation", AndroidScene.app,
                [
                    "attestationChain": .array(chain.map { .string(Base64.encode($0)) }),
                    "challenge": .string(Base64.encode(challenge)),
                ])
            #expect(AndroidScene.reason(reply) == AndroidKeyReasons.keyKind)
        }
    }

    private static func replacing(_ part: [UInt8], with other: [UInt8], in bytes: [UInt8]) -> [UInt8] {
        guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: part) }) else { return bytes }
        return Array(bytes[..<start]) + other + bytes[(start + part.count)...]
    }

    @Test("Policies judge the facts")
    func rules() async throws {
        let rules = """
                    rules:
                      - {name: not-strongbox, when: {android_security_level: {not: strongbox}}, then: refuse}
            """
        let scene = try AndroidScene(rules: rules)
        #expect(try await scene.refusal() == KernelReasons.ruleRefused)
        #expect(try await scene.refusal { ($0.attestationLevel, $0.keyLevel) = (2, 2) } == nil)
    }

    @Test("A key that was attested under another root is not used on")
    func roots() async throws {
        let scene = try AndroidScene()
        let (reply, key) = try await scene.attest(scene.authority.device(scene.state))
        let artifact = try AndroidScene.artifact(reply)
        #expect(AndroidScene.reason(try await scene.assert(key, artifact, counter: 1)) == nil)
        let other = try SimulatedAndroidAuthority(now: scene.engine.clock.now)
        try scene.engine.engine.replacePolicies(
            .load([PolicyFile(name: "test.yaml", text: AndroidScene.policy("", "", other))]))
        #expect(
            AndroidScene.reason(try await scene.assert(key, artifact, counter: 2))
                == AndroidKeyReasons.artifactRootUntrusted)
        #expect(
            AndroidScene.reason(try await scene.attest(scene.authority.device(scene.state)).reply)
                == AndroidKeyReasons.rootUntrusted)
    }

    @Test(
        "Without a list of revoked certificates, or with an old one, nothing is decided, unless the policy accepts it")
    func lists() async throws {
        let scene = try AndroidScene("revocation: {stale_after: 2h}")
        scene.status.fail(500)
        guard case .failure(let failure) = try await scene.attest(scene.authority.device(scene.state)).reply.result
        else { return #expect(Bool(false), "accepted") }
        #expect(failure.status == .unavailable)
        #expect(failure.reason == nil)
        let asked = scene.status.asked
        _ = try await scene.attest(scene.authority.device(scene.state))
        #expect(scene.status.asked == asked, "a flood of calls is none of questions")
        scene.status.fail(200)
        scene.engine.clock.advance(by: .seconds(5))
        #expect(try await scene.refusal() == nil)
        #expect(await scene.engine.engine.readiness == .ready)
        #expect(try await scene.storedHead() == nil)
        try await scene.renewList(after: .seconds(1))
        #expect(try await scene.storedHead() != nil)
        scene.status.fail(503)
        scene.engine.clock.advance(by: .seconds(3600))
        #expect(try await scene.refusal() == nil)
        scene.engine.clock.advance(by: .seconds(2 * 3600))
        guard case .failure(let old) = try await scene.attest(scene.authority.device(scene.state)).reply.result
        else { return #expect(Bool(false), "accepted") }
        #expect(old.status == .unavailable)
        guard case .degraded(let words) = await scene.engine.engine.readiness else {
            return #expect(Bool(false), "ready")
        }
        #expect(words.contains("the list of revoked certificates could not be renewed for 3 hours"))
        scene.status.fail(200)
        try await scene.renewList()
        #expect(try await scene.refusal() == nil)
        let lenient = try AndroidScene("revocation: {stale_after: 2h, stale: accept}")
        #expect(try await lenient.refusal() == nil)
        lenient.status.fail(503)
        lenient.engine.clock.advance(by: .seconds(3 * 3600))
        #expect(try await lenient.refusal() == nil)
    }

    @Test("A file that cannot be used is a warning, and a problem while nothing is decided without it")
    func missingFile() async throws {
        let scene = try AndroidScene("revocation: {list: /nonexistent/status.json, stale: accept}")
        let warnings = (scene.engine.engine.policyWarnings?.all ?? []).map(\.message).joined()
        #expect(warnings.contains("/nonexistent/status.json cannot be read"))
        await #expect(throws: RevocationList.Malformed.self) { try await scene.renewList() }
        guard case .degraded(let words) = await scene.engine.engine.readiness else {
            return #expect(Bool(false), "ready")
        }
        #expect(words.contains("there is no list of revoked certificates, so that nothing is decided"))
        guard case .failure(let failure) = try await scene.attest(scene.authority.device(scene.state)).reply.result
        else { return #expect(Bool(false), "accepted") }
        #expect(failure.status == .unavailable)
    }

    @Test("Readiness tells of a file that is missing, and of its return, without any device", .timeLimit(.minutes(1)))
    func fileWithoutCalls() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("status-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        let scene = try AndroidScene("revocation: {list: \(file)}")
        func wait(untilReady isReady: Bool) async throws {
            while true {
                if case .ready = await scene.engine.engine.readiness {
                    if isReady { return }
                } else if !isReady {
                    return
                }
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        try await wait(untilReady: false)
        try Data(#"{"entries": {}}"#.utf8).write(to: URL(fileURLWithPath: file))
        scene.engine.clock.advance(by: .seconds(11))
        try await wait(untilReady: true)
        try FileManager.default.removeItem(atPath: file)
        scene.engine.clock.advance(by: .seconds(11))
        try await wait(untilReady: false)
    }

    @Test("A device that tells how it was provisioned is no factory's, whatever its authority is called")
    func provisioning() throws {
        let authority = try SimulatedAndroidAuthority(now: ManualClock().now, provisioning: .remote)
        let chain = try AndroidChain(der: authority.device().makeKey(challenge: [1]).chain)
        #expect(chain.provisioning == .remote)
        #expect(chain.issuedCertificates == 1)
    }

    @Test("Tokens name the key where the policy says so")
    func confirmation() async throws {
        let scene = try AndroidScene("key_in_tokens: true")
        let (reply, key) = try await scene.attest(scene.authority.device(scene.state))
        let token = try #require(try reply.result.get()["appCheckToken"]?["token"]?.string)
        let payload = try #require(token.split(separator: ".").dropFirst().first)
        let claims = try JSON.parse(try #require(Base64.decodeURL(utf8: Array(payload.utf8)[...])))
        let confirmation = try #require(claims["cnf"].flatMap { ConfirmationKey(claim: $0) })
        #expect(confirmation.publicKey == key.key.point)
        #expect(confirmation.relyingPartyHash == SHA256.hash(Array("com.example.app".utf8)))
    }
}

extension AndroidScene {
    /// What servers share of the list.
    func storedHead() async throws -> [UInt8]? {
        let place = Hex.encode(SHA256.hash(Array(RevocationConfiguration.google.utf8)))
        return try await engine.store.get(StateKey("android_key/revocation/\(place)", "head"))
    }

    /// What the provider's maintenance does, when the list is due.
    func renewList(after time: Duration = .seconds(700)) async throws {
        engine.clock.advance(by: time)
        for entry in engine.engine.maintenance.entries {
            try await entry.maintenance.run(
                entry.context(
                    clock: engine.clock.hostClock, deadline: engine.clock.now + entry.maintenance.timeLimit,
                    state: StateSpace(entry.space, in: engine.store),
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        }
    }
}
