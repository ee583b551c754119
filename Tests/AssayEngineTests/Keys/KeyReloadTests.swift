import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayTestSupport
import AssayVerifier
import Foundation
import Logging
import Synchronization
import Testing
@testable import AssayServices

@Suite("Keys of an engine that runs")
struct KeyReloadTests {
    private static let es256 = "tokens: {algorithm: ES256}"
    private static let day = Duration.seconds(86_400)

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "assay-key-reload-\(UUID().uuidString)")
    private var file: URL { folder.appendingPathComponent("keys.json") }
    private var stored: KeyStore { .directory(folder.path) }

    private func token(_ service: TestService) async throws -> String {
        let body: JSON = ["debugToken": .string(TestService.debugToken)]
        let reply = await service.call("exchangeDebugToken", TestService.app, body)
        return try #require(reply.result.get()["token"]?.string)
    }

    private func kid(_ token: String) throws -> String? {
        let header = try #require(token.split(separator: ".").first.flatMap { Base64.decode($0) })
        return try JSON.parse(header)["kid"]?.string
    }

    private func published(_ service: TestService) async throws -> [String?] {
        try await service.call("jwks", "").result.get()["keys"]?.array?.map { $0["kid"]?.string } ?? []
    }

    @Test("A key that begins by itself does so at its instant, and its forerunner is published as long as it is needed")
    func timeAlone() async throws {
        let service = try TestService(tokens: Self.es256)
        let first = try #require(try await published(service).first)
        #expect(try service.engine.reloadKeys() == false, "nothing has changed")
        let key = try service.keys.prepareSigningKey(automatic: true, now: service.clock.now)
        #expect(try await published(service) == [first], "a server takes a change up when it is told to")
        #expect(try service.engine.reloadKeys())
        #expect(try service.engine.reloadKeys() == false)
        #expect(try await published(service) == [key.id, first], "it is published before it signs")

        service.clock.advance(by: KeyStore.signingLead - .milliseconds(1))
        let last = try await token(service)
        #expect(try kid(last) == first)
        service.clock.advance(by: .milliseconds(1))
        #expect(try await kid(token(service)) == key.id)
        guard case .verified(let claims) = try await service.verify(last) else {
            Issue.record("a living token of the retired key is refused")
            return
        }
        let end = service.clock.now + Self.day * 8
        service.clock.set(claims.expires - .milliseconds(1))
        guard case .verified = try await service.verify(last) else {
            Issue.record("a living token of the retired key is refused")
            return
        }
        service.clock.set(end - .milliseconds(1))
        #expect(try await published(service) == [key.id, first])
        service.clock.set(end)
        #expect(try await published(service) == [key.id])
        #expect(try await kid(token(service)) == key.id)
    }

    @Test("An older copy of the keys, in which a revoked key is in force, is not loaded", arguments: [true, false])
    func revived(isSealing: Bool) async throws {
        let first = stored
        let service = try TestService(keys: first, tokens: Self.es256)
        _ = try first.prepareSigningKey(now: service.clock.now)
        #expect(try service.engine.reloadKeys())
        let older = try Data(contentsOf: file)
        let key = try #require(
            try first.list(now: service.clock.now).first {
                $0.purpose == (isSealing ? .sealing : .signing) && $0.state == .active
            })
        _ = try first.revoke(key.id, losingDevices: isSealing, now: service.clock.now)
        #expect(try service.engine.reloadKeys())
        let newer = try Data(contentsOf: file)
        try older.write(to: file, options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let error = #expect(throws: KeyError.self) { try service.engine.reloadKeys() }
        #expect(error?.message.contains(key.id) == true, "\(error?.message ?? "")")
        try newer.write(to: file, options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        _ = try service.engine.reloadKeys()
        try? FileManager.default.removeItem(at: folder)
    }

    @Test(
        "A revocation is remembered for longer than the key: nothing is missed, and an older copy of the keys is found",
        arguments: [true, false])
    func longRevoked(wasActive: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = stored
        let service = try TestService(keys: first, tokens: Self.es256)
        let prepared = try first.prepareSigningKey(now: service.clock.now)
        #expect(try service.engine.reloadKeys())
        let active = try #require(try kid(try await token(service)))
        let copy = folder.appendingPathComponent("older")
        try first.copy(to: copy.path)
        let id = wasActive ? active : prepared.id
        _ = try first.revoke(id, now: service.clock.now)
        #expect(try service.engine.reloadKeys())
        _ = try await token(service)

        service.clock.advance(by: Self.day * 9)
        _ = try first.prepareSigningKey(now: service.clock.now)
        #expect(try !first.list(now: service.clock.now).contains { $0.id == id }, "the key has left the file")
        #expect(try service.engine.reloadKeys())
        _ = try await token(service)
        try await UsedKeys.check(first, in: service.store, now: service.clock.now)
        let error = await #expect(throws: KeyError.self) {
            try await UsedKeys.check(.directory(copy.path), in: service.store, now: service.clock.now)
        }
        #expect(error?.message.contains("\(id) was revoked at") == true, "\(error?.message ?? "")")
    }

    @Test("A revoked key is gone from the key set at once, and its tokens are refused by it")
    func revoked() async throws {
        let service = try TestService(tokens: Self.es256)
        let stolen = try await token(service)
        let id = try #require(try kid(stolen))
        _ = try service.keys.revoke(id, now: service.clock.now)
        #expect(try service.engine.reloadKeys())
        #expect(try await service.verify(stolen) == .refused(KernelReasons.tokenKeyUnknown))
        #expect(try await !published(service).contains(id))
        let event = try #require(service.sink.events.last { $0.kind == .keysChanged })
        #expect(event.details.first { $0.name == "revoked" }?.value == .array([.string("the signing key \(id)")]))
        guard case .verified = try await service.verify(token(service)) else {
            Issue.record("a token of the key that took its place is refused")
            return
        }
    }

    @Test("A policy that asks for another kind has a key published for its lead before it signs, and the log says so")
    func policy() async throws {
        let clock = ManualClock()
        let log = RecordingLog()
        let keys = KeyStore.ephemeral()
        func policies(_ tokens: String) throws -> PolicySet {
            try .load([PolicyFile(name: "a.yaml", text: tokens)])
        }
        let engine = try Engine(
            registry: Registry([]), policies: policies(Self.es256), keys: keys,
            host: PluginHost(clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock), logger: log.logger))
        func algorithms() async throws -> [String] {
            let list = try keys.list(now: clock.now).filter { $0.purpose == .signing }
            let set = try await engine.handle(Call("jwks")).result.get()["keys"]?.array ?? []
            #expect(set.map { $0["kid"]?.string } == list.map(\.id), "all of them are published")
            return list.map { "\($0.algorithm) \($0.bits) \($0.state.rawValue)" }
        }
        try engine.replacePolicies(policies("tokens: {algorithm: RS256}"))
        #expect(try await algorithms() == ["RS256 2048 prepared", "ES256 256 active"])
        let line = try #require(log.lines.last)
        #expect(line.contains("asks for another kind of signing key") && line.contains("from=2026-11-21T19:05:00Z"))
        clock.advance(by: KeyStore.signingLead - .milliseconds(1))
        #expect(try await algorithms() == ["RS256 2048 prepared", "ES256 256 active"])
        #expect(try engine.reloadKeys() == false, "nothing more is made while it waits")
        clock.advance(by: .milliseconds(1))
        #expect(try await algorithms() == ["RS256 2048 active", "ES256 256 retired"])
        #expect(try engine.reloadKeys() == false)

        // A policy that was a mistake, and is taken back before the new key signs, leaves it unused.
        try engine.replacePolicies(policies("tokens: {rsa_bits: 3072}"))
        try engine.replacePolicies(policies(""))
        #expect(log.lines.last?.contains("is not activated automatically") == true)
        clock.advance(by: Self.day)
        #expect(try await algorithms() == ["RS256 3072 prepared", "RS256 2048 active", "ES256 256 retired"])
        // Asked for again, it has been published for long enough.
        try engine.replacePolicies(policies("tokens: {rsa_bits: 3072}"))
        #expect(try await algorithms() == ["RS256 3072 active", "RS256 2048 retired", "ES256 256 retired"])
        #expect(log.lines.last?.contains("a prepared one takes over") == true)

        // What an operator activates against the policy is followed by what the policy asks for.
        let other = try keys.prepareSigningKey(TokenPolicy(algorithm: .es256), lead: .zero, now: clock.now)
        _ = try keys.activate(other.id, now: clock.now)
        #expect(try engine.reloadKeys())
        #expect(try await algorithms().prefix(2) == ["RS256 3072 prepared", "ES256 256 active"])
        clock.advance(by: KeyStore.signingLead)
        #expect(try await algorithms().prefix(2) == ["RS256 3072 active", "ES256 256 retired"])
    }

    @Test("A reload makes no new instance of a plugin")
    func instances() async throws {
        let clock = ManualClock()
        let keys = KeyStore.ephemeral()
        let text = "projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a', providers: {counting: {}}}]}]"
        let engine = try Engine(
            registry: Registry([.provider(CountingProvider.self)]),
            policies: .load([PolicyFile(name: "a.yaml", text: text)]), keys: keys,
            host: PluginHost(
                clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock), logger: TestService.silent))
        #expect(CountingProvider.count.withLock { $0 } == 1)
        _ = try keys.prepareSigningKey(TokenPolicy(algorithm: .es256), now: clock.now)
        #expect(try engine.reloadKeys())
        #expect(CountingProvider.count.withLock { $0 } == 1)
    }

    @Test(
        "Keys that are gone, damaged or another service's are not loaded: the present ones stay in force",
        arguments: ["gone", "damaged", "another's", "readable by all", "an older copy", "without signing keys"])
    func refusedReload(_ how: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let service = try TestService(keys: stored, tokens: Self.es256)
        let (keyID, artifact) = try await service.attested()
        let older = try Data(contentsOf: file)
        _ = try stored.prepareSigningKey(automatic: true, now: service.clock.now)
        #expect(try service.engine.reloadKeys())
        let good = try Data(contentsOf: file)
        let set = try await published(service)
        switch how {
        case "an older copy": try rewrite(older)
        case "without signing keys":
            let ring = try JSON.parse(Array(good))
            let members = try #require(ring.members).map { $0.name == "signing" ? JSONMember("signing", []) : $0 }
            try rewrite(Data(JSON.object(members).encoded))
        case "gone": try FileManager.default.removeItem(at: file)
        case "damaged": try rewrite(good.dropLast(5))
        case "readable by all":
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        default:
            try FileManager.default.removeItem(at: file)
            _ = try TestService(keys: stored, tokens: Self.es256)
        }
        let before = try? Data(contentsOf: file)
        #expect(throws: KeyError.self) { try service.engine.reloadKeys() }
        #expect(throws: KeyError.self) { try service.engine.replacePolicies(.load([])) }
        #expect((try? Data(contentsOf: file)) == before, "nothing is filled anew")
        #expect(try await published(service) == set)
        #expect(try await service.assert(keyID, artifact).reason == nil)
        guard case .verified = try await service.verify(token(service)) else {
            Issue.record("a token is refused")
            return
        }
        try rewrite(good)
        #expect(try service.engine.reloadKeys() == false, "they are the same again")
    }

    private func rewrite(_ content: Data) throws {
        try content.write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }

    @Test("Artifacts that were sealed by any earlier key open after many rotations, while the server runs and after it")
    func artifacts() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let service = try TestService(keys: stored, tokens: Self.es256)
        var made = [try await service.attested()]
        for number in 0..<5 {
            if number.isMultiple(of: 2) {
                _ = try stored.prepareSealingKey(automatic: true, now: service.clock.now)
            } else {
                let key = try stored.prepareSealingKey(now: service.clock.now)
                _ = try stored.activate(key.id, beforeItsTime: true, now: service.clock.now)
            }
            #expect(try service.engine.reloadKeys())
            service.clock.advance(by: KeyStore.sealingLead)
            made.append(try await service.attested())
        }
        #expect(Set(made.map { Array($0.artifact[1..<5]) }).count == 6, "each is sealed by another key")
        for (keyID, artifact) in made { #expect(try await service.assert(keyID, artifact).reason == nil) }
        let later = try TestService(authority: service.authority, keys: stored, tokens: Self.es256)
        for (keyID, artifact) in made {
            #expect(try await assert(on: later, by: service.device, keyID, artifact).reason == nil)
        }
    }

    /// An assertion by a device that attested its key to another server.
    private func assert(
        on service: TestService, by device: SimulatedDevice, _ keyID: String, _ artifact: [UInt8]
    ) async throws -> Reply {
        let challenge = try await service.challenge()
        let assertion = try device.generateAssertion(
            keyID, clientDataHash: SHA256.hash(artifact, challenge), app: service.simulatedApp)
        return await service.call(
            "exchangeAppAttestAssertion", TestService.app,
            [
                "artifact": .string(Base64.encode(artifact)), "assertion": .string(Base64.encode(assertion)),
                "challenge": .string(Base64.encode(challenge)),
            ])
    }

    @Test("What another server sealed with a key that this one has not seen yet is opened, and its challenges redeemed")
    func secondServer() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try TestService(keys: stored, tokens: Self.es256)
        let second = try TestService(authority: first.authority, keys: stored, tokens: Self.es256)
        try stored.rotateSealingKey(now: first.clock.now)
        try second.engine.reloadKeys()
        let (keyID, artifact) = try await second.attested()
        #expect(try await assert(on: first, by: second.device, keyID, artifact).reason == nil)

        try stored.rotateSealingKey(now: first.clock.now)
        try second.engine.reloadKeys()
        let challenge = try await second.challenge()
        #expect(try await first.attest(first.device.generateKey(), challenge: challenge).reason == nil)
        #expect(try first.engine.reloadKeys() == false, "it has taken the key up by that")

        // What names a key that there is not is refused as before.
        var other = artifact
        other[2] ^= 1
        #expect(try await assert(on: first, by: second.device, keyID, other).reason == "artifact_invalid")
        var forged = try await first.challenge()
        forged[2] ^= 1
        #expect(try await first.attest(first.device.generateKey(), challenge: forged).reason == "challenge_forged")
    }

    @Test("Keys are read again because of an unknown identifier on threads for that, never on the thread of a request")
    func besideRequests() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let workers = WorkerThreads(count: 1, waiting: 0)
        let service = try TestService(keys: stored, tokens: Self.es256, workers: workers)
        let (keyID, artifact) = try await service.attested()
        var other = artifact
        other[2] ^= 1
        var forged = try await service.challenge()
        forged[2] ^= 1
        let key = try service.device.generateKey()
        #expect(try await service.attest(key, challenge: forged).reason == "challenge_forged")
        #expect(try await assert(on: service, by: service.device, keyID, other).reason == "artifact_invalid")

        let brake = Brake()
        defer { brake.release() }
        #expect(workers.start { brake.wait() })
        await brake.waitForWaiters(1)
        #expect(try await service.attest(key, challenge: forged).status == .unavailable)
        #expect(try await assert(on: service, by: service.device, keyID, other).status == .unavailable)
        #expect(try await service.assert(keyID, artifact).reason == nil, "what it has keys for is decided as ever")
    }

    @Test("While it cannot be seen whether there is such a key, nothing is decided")
    func undecided() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try TestService(keys: stored, tokens: Self.es256)
        let second = try TestService(authority: first.authority, keys: stored, tokens: Self.es256)
        try stored.rotateSealingKey(now: first.clock.now)
        try second.engine.reloadKeys()
        let (keyID, artifact) = try await second.attested()
        let challenge = try await second.challenge()
        let good = try Data(contentsOf: file)
        try Data("{".utf8).write(to: file)
        for _ in 0..<3 {
            #expect(try await assert(on: first, by: second.device, keyID, artifact).status == .unavailable)
            #expect(
                try await first.attest(first.device.generateKey(), challenge: challenge).status == .unavailable)
        }
        // What it has keys for is decided as ever.
        let (own, sealed) = try await first.attested()
        #expect(try await first.assert(own, sealed).reason == nil)
        #expect(try await first.assert(own, Array(sealed.dropLast())).reason == "artifact_invalid")

        try good.write(to: file)
        first.clock.advance(by: .seconds(1))
        #expect(try await assert(on: first, by: second.device, keyID, artifact).reason == nil)
        #expect(try await first.attest(first.device.generateKey(), challenge: challenge).reason == nil)
    }

    @Test("Calls that run while keys change over and over all end well")
    func whileRunning() async throws {
        let service = try TestService(tokens: Self.es256)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<10 {
                    let key = try service.keys.prepareSigningKey(lead: .zero, now: service.clock.now)
                    try service.engine.reloadKeys()
                    _ = try service.keys.activate(key.id, now: service.clock.now)
                    try service.keys.rotateSealingKey(now: service.clock.now)
                    try service.engine.reloadKeys()
                }
            }
            for _ in 0..<3 {
                group.addTask {
                    for _ in 0..<10 {
                        let (keyID, artifact) = try await service.attested()
                        #expect(try await service.assert(keyID, artifact).reason == nil)
                        guard case .verified = try await service.verify(token(service)) else {
                            Issue.record("a token is refused")
                            return
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// Counts how often it was made.
private struct CountingProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    static let count = Mutex(0)
    static let descriptor = PluginDescriptor.provider(name: "counting", summary: "Counts.", reasons: [])
    static let methods: [ProviderMethod<CountingProvider>] = []

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) {
        Self.count.withLock { $0 += 1 }
    }
}
