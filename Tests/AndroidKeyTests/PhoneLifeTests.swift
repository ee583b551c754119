import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayTesting
import Testing

@testable import AssayAndroidKey

/// A phone with an app, whose client keeps a key, its artifact and a token, and gets a new token as Assay's client for Android does: after
/// half of the life of the old one and five minutes.
private struct Phone {
    let scene: AndroidScene
    var device: SimulatedAndroidDevice
    private(set) var key: SimulatedAndroidDevice.Key?
    private(set) var artifact: [UInt8] = []
    private(set) var counter: UInt32 = 0
    private var tokenIsGoodUntil = Instant(seconds: 0)
    private var nextToken = Instant(seconds: 0)

    init(_ scene: AndroidScene, serial: [UInt8]) throws {
        self.scene = scene
        device = try scene.authority.device(scene.state, serial: serial)
    }

    private var now: Instant { scene.engine.clock.now }

    var hasToken: Bool { now < tokenIsGoodUntil }

    /// Makes a key and has it attested.
    mutating func attest() async throws -> Reply {
        let (reply, key) = try await scene.attest(device)
        if case .success(let message) = reply.result {
            (self.key, artifact, counter) = (key, try AndroidScene.artifact(reply), 0)
            try take(try #require(message["appCheckToken"]))
        }
        return reply
    }

    /// Gets a token with the key.
    mutating func assert() async throws -> Reply {
        counter += 1
        let reply = try await scene.assert(try #require(key), artifact, counter: counter)
        if case .success(let message) = reply.result { try take(message) }
        return reply
    }

    /// What the client does while the app is used for some time: a token is there at any moment.
    mutating func use(for time: Duration) async throws {
        let end = now + time
        while nextToken < end {
            scene.engine.clock.advance(by: max(.zero, nextToken - now))
            #expect(hasToken)
            #expect(AndroidScene.reason(try await assert()) == nil)
        }
        scene.engine.clock.advance(by: max(.zero, end - now))
    }

    private mutating func take(_ token: JSON) throws {
        let seconds = try #require(token["ttl"]?.string.flatMap { Int64($0.dropLast()) })
        tokenIsGoodUntil = now + .seconds(seconds)
        nextToken = now + .seconds(seconds / 2 + 300)
    }
}

@Suite("The life of a phone") struct PhoneLifeTests {
    private static let day = Duration.seconds(86_400)

    private let scene: AndroidScene
    private var phone: Phone

    init() throws {
        scene = try AndroidScene("token_ttl: 1d\npatch_age: {system: 60d}")
        phone = try Phone(scene, serial: [0x5E, 0x71, 0xA1])
    }

    /// A refusal's reason, and what is on record beside it.
    private func refusal(_ reply: Reply) -> (reason: Reason?, detail: String) {
        (AndroidScene.reason(reply), scene.engine.record(of: reply)?.detail ?? "")
    }

    private func fact(_ name: FactName, _ reply: Reply) -> String? {
        scene.engine.record(of: reply)?.facts.first { $0.name == name }.map { "\($0.value)" }
    }

    private func call(_ method: String, _ body: JSON) async throws -> JSON {
        try await scene.engine.call(
            method, "projects/example-project", body, credentials: AndroidScene.administrator
        ).result.get()
    }

    @Test("It attests, is used for a month, gets old, is revoked, denied, and gets another key; each way back works")
    mutating func life() async throws {
        let first = try await phone.attest()
        for (name, value) in [
            (AndroidKeyFacts.level, "tee"), (AndroidKeyFacts.bootState, "verified"),
            (AndroidKeyFacts.osVersion, "15.0.0"), (AndroidKeyFacts.provisioning, "factory"),
            (AndroidKeyFacts.versionCode, "42"), (AndroidKeyFacts.attesterKeys, "1"),
        ] { #expect(fact(name, first) == value, "\(name)") }

        // A month. The list of revoked certificates is renewed each day.
        let attested = scene.engine.clock.now
        for _ in 0..<30 {
            try await phone.use(for: Self.day)
            try await scene.renewList()
        }
        #expect(phone.counter > 55)
        let key = try #require(phone.key)
        let again = refusal(try await scene.assert(key, phone.artifact, counter: phone.counter))
        #expect(again.reason == AndroidKeyReasons.counterUsed)
        #expect(again.detail == "\(phone.counter) is not above the last one accepted")

        // What was attested of the updates does not change, and gets old.
        while scene.engine.clock.now < attested + .seconds(60 * 86_400) {
            scene.engine.clock.advance(by: Self.day)
            try await scene.renewList()
        }
        let old = refusal(try await phone.assert())
        #expect(old.reason == AndroidKeyReasons.patchTooOld)
        let month = "\(AttestedDevice.date(ofPatch: phone.device.state.systemPatch.map { Int($0) }) ?? attested)"
        #expect(old.detail == "system: \(month), and it is \(scene.engine.clock.now), at most 60 days")
        #expect(AndroidScene.reason(try await phone.attest()) == AndroidKeyReasons.patchTooOld)
        #expect(!phone.hasToken)
        // The phone is updated. That is known by a new attestation alone.
        phone.device.state = scene.state
        #expect(AndroidScene.reason(try await phone.assert()) == AndroidKeyReasons.patchTooOld)
        #expect(AndroidScene.reason(try await phone.attest()) == nil)
        try await phone.use(for: Self.day)

        try await revocation()
        try await denial()
        try await otherKey()
    }

    /// The key of the phone's factory becomes known; then that turns out to be wrong.
    private mutating func revocation() async throws {
        scene.status.revoke("5e71a1")
        try await scene.renewList()
        for reply in [try await phone.assert(), try await phone.attest()] {
            let found = refusal(reply)
            #expect(found.reason == AndroidKeyReasons.revoked)
            #expect(found.detail == "REVOKED in the list of \(scene.engine.clock.now)")
        }
        // Another phone of another factory is not concerned.
        #expect(try await scene.refusal() == nil)
        scene.status.restore()
        try await scene.renewList()
        #expect(AndroidScene.reason(try await phone.assert()) == nil)
        try await phone.use(for: Self.day)
    }

    /// An administrator denies the key for a while.
    private mutating func denial() async throws {
        let keyID = try #require(phone.key).key.identifier
        let entry = try await call(
            "createDenyEntry", ["denyEntry": ["match": ["key_id": .string(Base64.encode(keyID))], "note": "ticket 7"]])
        let name = try #require(entry["name"]?.string)
        scene.engine.clock.advance(by: .seconds(3))
        let denied = refusal(try await phone.assert())
        #expect(denied.reason == KernelReasons.evidenceDenied)
        #expect(denied.detail.contains(name) && denied.detail.contains("ticket 7"), "\(denied.detail)")
        #expect(try await scene.refusal() == nil)
        _ = try await call("deleteDenyEntry", ["denyEntryId": .string(String(name.split(separator: "/").last ?? ""))])
        scene.engine.clock.advance(by: .seconds(3))
        #expect(AndroidScene.reason(try await phone.assert()) == nil)
        try await phone.use(for: Self.day)
    }

    /// The app is installed anew, and so has another key.
    private mutating func otherKey() async throws {
        let (formerKey, formerArtifact, formerCounter) = (try #require(phone.key), phone.artifact, phone.counter)
        let reply = try await phone.attest()
        #expect(AndroidScene.reason(reply) == nil)
        // Those of the last 30 days count.
        #expect(fact(AndroidKeyFacts.attesterKeys, reply) == "2")
        let key = try #require(phone.key)
        for (pair, counter) in [((formerKey, phone.artifact), 1), ((key, formerArtifact), formerCounter + 1)] {
            let mixed = try await scene.assert(pair.0, pair.1, counter: UInt32(counter))
            #expect(AndroidScene.reason(mixed) == AndroidKeyReasons.assertionSignature)
        }
        let other = refusal(
            try await scene.assert(key, phone.artifact, counter: 1, package: "com.example.other"))
        #expect(other.reason == AndroidKeyReasons.assertionOtherApp)
        #expect(other.detail.hasSuffix(", expected \(Hex.encode(SHA256.hash(Array("com.example.app".utf8))))"))
        #expect(AndroidScene.reason(try await phone.assert()) == nil)
        // The former key is as good as before, until somebody denies it.
        #expect(
            AndroidScene.reason(try await scene.assert(formerKey, formerArtifact, counter: formerCounter + 1)) == nil)
        try await phone.use(for: Self.day)
    }
}
