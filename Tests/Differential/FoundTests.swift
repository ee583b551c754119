import AssayCore
import AssayKit
import AssayServices
@testable import AssayPolicyTools
import AssayTesting
import Testing

/// Disagreements that were found once.
@Suite("Disagreements of tools and servers that were found")
struct FoundTests {
    private static let administrator =
        "root: {sha256: \(RandomValues.hash(of: RandomValues.administrator, 0)), permissions: [admin]}"

    private static func policies(_ first: String, _ second: String) -> String {
        """
        tokens: {algorithm: ES256}
        callers: {\(administrator)}
        projects:
          - {number: 1, id: project-1, \(first)}
          - {number: 2, id: project-2, \(second)}

        """
    }

    /// What a server records of a request under some policies, and how it ends under others.
    private func replay(
        _ request: Request, from old: String, to new: String
    ) async throws -> (report: ReplayReport, before: String, after: String) {
        let sets = (World.policies(old), World.policies(new))
        let (clock, keys) = (ManualClock(), KeyStore.pooled())
        let line = try #require(await World(sets.0, keys: keys, clock: clock).answer(request).line)
        let other = try #require(await World(sets.1, keys: keys, clock: clock).answer(request).line)
        var replay = try DecisionReplay(from: (sets.0, World.registry), to: (sets.1, World.registry))
        replay.read(line[...])
        let endings = try [line, other].map { try #require(Round.decision($0)?.ending) }
        return (replay.result, endings[0], endings[1])
    }

    @Test("What an administrator asked for is not judged where the project differs")
    func administration() async throws {
        let name = RandomValues.administrator
        let request = Request(
            Call(
                "updateService", resource: "projects/1",
                body: [
                    "serviceId": "orders", "updateMask": "enforcementMode", "service": ["enforcementMode": "ENFORCED"],
                ], credentials: BearerToken(RandomValues.token(of: name, 0))), caller: name)
        let found = try await replay(
            request, from: Self.policies("services: {orders: {editable: true}}", "apps: []"),
            to: Self.policies("services: {orders: {editable: false}}", "apps: []"))
        #expect(found.before == "answered")
        #expect(found.after == "rejected FAILED_PRECONDITION")
        #expect(found.report.same == 0)
        #expect(found.report.notJudged.count == 1)
        let elsewhere = try await replay(
            request, from: Self.policies("services: {orders: {editable: true}}", "apps: []"),
            to: Self.policies("services: {orders: {editable: true}}", "services: {orders: {editable: true}}"))
        #expect(elsewhere.report.same == 1)
    }

    @Test("A request that may have named no backend is not judged where there is no longer the same one only")
    func unnamed() async throws {
        let one = "consumers: {custom_backend: {backends: {orders: {tokens: {enforcement: OFF}}}}}"
        let two = "consumers: {custom_backend: {backends: {orders: {tokens: {enforcement: OFF}}, stock: {}}}}"
        let unnamed = Call("verifyRequest", body: [:])
        let found = try await replay(
            Request(unnamed), from: Self.policies(one, "apps: []"), to: Self.policies(two, "apps: []"))
        #expect(found.before == "answered")
        #expect(found.after == "rejected INVALID_ARGUMENT")
        let words: ExactText = "the record does not say whether the request named its consumer"
        #expect(found.report.same == 0)
        #expect(found.report.notJudged == [words: 1])
        // So it is with a backend of another project.
        let stock = "consumers: {custom_backend: {backends: {stock: {}}}}"
        let elsewhere = try await replay(
            Request(unnamed), from: Self.policies(one, "apps: []"), to: Self.policies(one, stock))
        #expect(elsewhere.after == "rejected INVALID_ARGUMENT")
        #expect(elsewhere.report.notJudged == [words: 1])
        // The rule of the transport says that the path had a name.
        let named = Call("verifyRequest", body: ["backend": "orders"], route: "ANY /v1/verify/{backend}")
        let other = try await replay(
            Request(named), from: Self.policies(one, "apps: []"), to: Self.policies(two, "apps: []"))
        #expect(other.after == "answered")
        #expect(other.report.notJudged[words] == nil)
    }

    @Test("A refused token is let through where the level falls, whatever else was demanded of it")
    func level() async throws {
        let enforced =
            "consumers: {custom_backend: {backends: {orders: {tokens: {max_age: 1m, accept_development: true}}}}}"
        let level = "enforcement: UNENFORCED, apps: ['1:1:ios:b']"
        let unenforced = "consumers: {custom_backend: {backends: {orders: {tokens: {\(level)}}}}}"
        let apps = "apps: [{id: '1:1:ios:a', providers: {sketch: {}}}, {id: '1:1:ios:b', providers: {sketch: {}}}]"
        let (clock, keys) = (ManualClock(), KeyStore.pooled())
        let sets = [enforced, unenforced].map { World.policies(Self.policies("\($0), \(apps)", "apps: []")) }
        let worlds = try sets.map { try World($0, keys: keys, clock: clock) }
        _ = await worlds[0].answer(Request(Call("exchangeNote", resource: "projects/1")))
        clock.advance(by: .seconds(600))
        let exchange = Call("exchangeSketch", resource: "projects/1/apps/1:1:ios:a", body: [:])
        let token = try #require(await worlds[0].answer(Request(exchange)).reply?["token"]?.string)
        clock.advance(by: .seconds(120))
        let request = Request(Call("verifyRequest", body: ["backend": "orders"], token: .one(token)))
        var lines: [[UInt8]] = []
        for world in worlds { lines.append(try #require(await world.answer(request).line)) }
        #expect(lines.compactMap { Round.decision($0)?.ending } == ["refused token_too_old", "answered"])
        var replay = try DecisionReplay(from: (sets[0], World.registry), to: (sets[1], World.registry))
        replay.read(lines[0][...])
        #expect(replay.result.same == 0)
        #expect(replay.result.changed.first?.group.new == DecisionReplay.passes)
    }

    @Test("A token that an entry of the files refused passes without the entry, as far as files tell")
    func removedEntry() async throws {
        let apps = "apps: [{id: '1:1:ios:a', providers: {sketch: {}}}]"
        let consumers = "consumers: {custom_backend: {backends: {orders: {tokens: {accept_development: true}}}}}"
        let text = Self.policies("\(consumers), \(apps)", "apps: []")
        let (clock, keys) = (ManualClock(), KeyStore.pooled())
        let world = try World(World.policies(text), keys: keys, clock: clock)
        _ = await world.answer(Request(Call("exchangeNote", resource: "projects/1")))
        clock.advance(by: .seconds(600))
        let exchange = Call("exchangeSketch", resource: "projects/1/apps/1:1:ios:a", body: [:])
        let token = try #require(await world.answer(Request(exchange)).reply?["token"]?.string)
        let id = try #require(Round.claims(token)?["jti"]?.string)
        let denying = World.policies("\(text)deny: [{jti: '\(id)'}]\n")
        try world.replace(denying)
        let request = Request(Call("verifyRequest", body: ["backend": "orders"], token: .one(token)))
        let line = try #require(await world.answer(request).line)
        #expect(Round.decision(line)?.ending == "refused token_denied")
        var replay = try DecisionReplay(
            from: (denying, World.registry), to: (World.policies(text), World.registry))
        replay.read(line[...])
        #expect(
            replay.result.changed.first?.group.new == DecisionReplay.passes + DecisionReplay.unlessDenied,
            "\(replay.result.text)")
        // Of a token that no entry of the files names, nobody knows which one refused it.
        var other = try DecisionReplay(
            from: (World.policies(text), World.registry),
            to: (World.policies("\(text)deny: [{jti: another}]\n"), World.registry))
        other.read(line[...])
        #expect(other.result.notJudged == ["which entry of a deny list names the token is not recorded": 1])
    }

    @Test("What became of a token of another issuer is not known where the issuer differs")
    func issuer() async throws {
        let apps = "apps: [{id: '1:1:ios:a', providers: {sketch: {}}}]"
        let consumers = "consumers: {custom_backend: {backends: {orders: {tokens: {accept_development: true}}}}}"
        let own = World.policies(
            Self.policies("issuer: 'https://issuer.example.com/', \(consumers), \(apps)", "apps: []"))
        let standard = World.policies(Self.policies("\(consumers), \(apps)", "apps: []"))
        let (clock, keys) = (ManualClock(), KeyStore.pooled())
        let worlds = try [own, standard].map { try World($0, keys: keys, clock: clock) }
        for world in worlds { _ = await world.answer(Request(Call("exchangeNote", resource: "projects/1"))) }
        clock.advance(by: .seconds(600))
        let exchange = Call("exchangeSketch", resource: "projects/1/apps/1:1:ios:a", body: [:])
        let token = try #require(await worlds[1].answer(Request(exchange)).reply?["token"]?.string)
        let request = Request(Call("verifyRequest", body: ["backend": "orders"], token: .one(token)))
        var lines: [[UInt8]] = []
        for world in worlds { lines.append(try #require(await world.answer(request).line)) }
        #expect(lines.compactMap { Round.decision($0)?.ending } == ["refused token_issuer", "answered"])
        var replay = try DecisionReplay(from: (own, World.registry), to: (standard, World.registry))
        replay.read(lines[0][...])
        #expect(replay.result.same == 0)
        #expect(replay.result.notJudged.count == 1)
    }

    @Test("A caller with some projects only is told nothing of consumers that are gone")
    func limitedCaller() async throws {
        let name = RandomValues.callers[0]
        let hash = RandomValues.hash(of: name, 0)
        func policies(_ caller: String, _ consumers: String) -> String {
            Self.policies(consumers, "apps: []").replacing(
                Self.administrator,
                with: "\(name): {sha256: \(hash), permissions: [tokens.introspect]\(caller)}")
        }
        let consumers =
            "consumers: {oauth_client: {authorization_servers: [https://login.example.com], introspection: {}}}"
        let request = Request(
            Call(
                "introspectProjectToken", resource: "projects/1", body: ["token": "nonsense"],
                credentials: BearerToken(RandomValues.token(of: name, 0))), caller: name)
        let gone = try await replay(
            request, from: policies("", consumers), to: policies(", projects: [1]", "apps: []"))
        #expect(gone.before == "answered")
        #expect(gone.after == "rejected PERMISSION_DENIED")
        #expect(gone.report.changed.first?.group.new == gone.after)
        // What a token is depends on more than who asks.
        let apps = "apps: [{id: '1:1:ios:a', providers: {sketch: {}}}]"
        let other = try await replay(
            request, from: policies("", consumers), to: policies("", "\(consumers), \(apps)"))
        #expect(other.report.same == 0)
        #expect(other.report.notJudged.count == 1)
        let same = try await replay(request, from: policies("", consumers), to: policies(", projects: [1]", consumers))
        #expect(same.report.same == 1)
    }
}
