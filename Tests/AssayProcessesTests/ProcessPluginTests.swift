import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayPolicyTools
import AssayServices
import AssayTesting
import AssayTestSupport
import AssayYAML
import Logging
import Testing

@testable import AssayProcesses

@Suite("Plugins in processes of their own")
struct ProcessPluginTests {
    @Test("Evidence becomes a token, or is refused for a declared reason, as with any other provider")
    func exchange() async throws {
        try await ProcessBench.with { bench in
            let reply = await bench.say("genuine", ["evidence": "AAEC"])
            #expect(reply.fields["token"]?.string?.isEmpty == false)
            let record = try #require(bench.engine.record(of: reply))
            #expect(record.provider == "widget")
            #expect(record.facts.contains { $0.name.text == "widget_serial" && "\($0.value)" == "genuine" })
            let refused = await bench.say("forged")
            #expect(bench.engine.record(of: refused)?.reason == "widget_forged")
            #expect(bench.engine.record(of: refused)?.detail == "a detail")
        }
    }

    @Test("A challenge is redeemed once, and a reply may have fields beside the token")
    func challenge() async throws {
        try await ProcessBench.with { bench in
            let challenge = try await bench.engine.challenge("generateWidgetChallenge")
            let body: JSON = ["challenge": .string(Base64.encode(challenge)), "say": "genuine"]
            let reply = await bench.engine.call("exchangeWidgetWithChallenge", TestEngine.app, body)
            #expect(reply.fields["serial"]?.string == "7")
            #expect(reply.fields["appCheckToken"] != nil)
            let again = await bench.engine.call("exchangeWidgetWithChallenge", TestEngine.app, body)
            #expect(bench.engine.record(of: again)?.reason == "challenge_already_used")
        }
    }

    @Test(
        "What breaks the contract is a fault, and no verdict",
        arguments: [
            "nothing", "undeclared_reason", "undeclared_fact", "wrong_type", "not_json", "huge", "large", "negative",
        ])
    func faults(says: String) async throws {
        try await ProcessBench.with { bench in
            let reply = await bench.say(says)
            #expect(reply.code == .unavailable || reply.code == .internalError, "\(reply.result)")
            #expect(bench.engine.record(of: reply)?.reason != "widget_forged")
            #expect(await bench.say("genuine").code == nil, "it is called on")
        }
    }

    @Test("Facts of a refusal that are ill-typed or empty are dropped and named, and are no fault")
    func refusedFacts() async throws {
        try await ProcessBench.with { bench in
            for _ in 0..<20 {
                let reply = await bench.engine.call("exchangeWidget", TestEngine.app, ["say": "refused_facts"])
                let record = try #require(bench.engine.record(of: reply))
                #expect(record.reason == "widget_forged")
                #expect(bench.serial(reply) == "kept")
                #expect(!record.facts.contains { $0.name == "widget_size" })
                for part in ["without values, such as widget_size", "not of their types: widget_size"] {
                    #expect(record.detail?.contains(part) == true, "\(record.detail ?? "")")
                }
            }
            #expect(await bench.engine.call("exchangeWidget", TestEngine.app, ["say": "genuine"]).code == nil)
        }
    }

    @Test("A request of another form is the client's mistake, and the words have nothing that steers a terminal")
    func invalid() async throws {
        try await ProcessBench.with { bench in
            let reply = await bench.say("invalid")
            #expect(reply.code == .invalidArgument)
            #expect(reply.message?.contains("no widget") == true)
            #expect(reply.message?.unicodeScalars.contains("\u{1B}") == false)
            #expect(await bench.engine.call("exchangeWidget", TestEngine.app, [:]).code == .invalidArgument)
            #expect(await bench.say("genuine", ["evidence": "?"]).code == .invalidArgument)
        }
    }

    @Test("A lifetime that the evidence states is that of the token")
    func lifetime() async throws {
        try await ProcessBench.with { bench in
            let reply = await bench.say("hour")
            #expect(reply.fields["ttl"]?.string == "3600s")
        }
    }

    @Test("What is wrong with a section is said at its place, by the declared keys and by the plugin itself")
    func sections() async throws {
        let processes = await ProcessPlugins.start([ProcessBench.settings()], logger: .init(label: "test"))
        func problems(_ section: String) throws -> [String] {
            do {
                _ = try TestEngine(processes.plugins, policy: TestEngine.policy(providers: "widget:\n  " + section))
                return []
            } catch let problems as Diagnostics {
                return problems.all.map(\.description)
            }
        }
        for (section, place, words) in [
            ("factori: north", "10:13", "did you mean `factory`"),
            ("factory: closed", "10:22", "this factory is closed"),
            ("factory: crowded", "10:", "over 64 audiences"), ("factory: wordy", "10:", "over 1024 bytes"),
            ("{factory: north, sizes: [1, 20]}", "10:41", "is too large"),
            ("{factory: north, sizes: [1, x]}", "10:41", "whole number"),
            ("{factory: north, colour: reed}", "10:38", "`red`"),
            ("{factory: north, age: -1s}", "10:35", "duration"),
            ("{factory: north, key: a-secret-itself}", "10:35", "env:NAME"),
            ("{factory: north, place: {}}", "10:37", "town"),
        ] {
            let found = try problems(section)
            #expect(found.count == 1, "\(section): \(found)")
            #expect(found.first?.contains(words) == true, "\(section): \(found)")
            #expect(found.first?.contains("test.yaml:\(place)") == true, "\(section): \(found)")
            #expect(found.first?.contains("a-secret-itself") == false)
        }
        #expect(
            try problems("{factory: north, sizes: [1], colour: blue, age: 5m, key: 'env:K', place: {town: x}}") == [])
        #expect(try problems("{factory: north, token_ttl: 1h}") == [])
        await processes.stop()
    }

    @Test("Its keys are in the schema of policies, and its methods and reasons in the registry")
    func registry() async throws {
        let processes = await ProcessPlugins.start([ProcessBench.settings()], logger: .init(label: "test"))
        let registry = try Registry(processes.plugins)
        let schema = String(decoding: registry.policySchema.encoded, as: UTF8.self)
        for part in ["\"factory\"", "\"sizes\"", "The colour of a widget.", "\"red\""] {
            #expect(schema.contains(part))
        }
        let plugin = try #require(registry.plugins.first { $0.name == "widget" })
        #expect(plugin.version == "1.2.3")
        #expect(plugin.descriptor?.posture?.proves == "The widget is from the factory.")
        #expect(plugin.methods.map(\.name).contains("countWidgets"))
        #expect(registry.health.first?.summary == "ready, version 1.2.3" || registry.health.first?.state == .ready)
        await processes.stop()
    }

    @Test("A plugin's calls are counted for their app only, and instances are released with their policies")
    func calls() async throws {
        let policy = """
            callers:
              admin: {sha256: \(Self.digest), permissions: [admin]}

            """
        try await ProcessBench.with(policy: policy + TestEngine.policy(providers: "widget: {factory: north}")) {
            bench in
            for _ in 0..<3 {
                try bench.engine.engine.replacePolicies(
                    .load([
                        PolicyFile(
                            name: "test.yaml", text: policy + TestEngine.policy(providers: "widget: {factory: south}"))
                    ]))
            }
            try await ProcessBench.wait {
                let reply = await bench.engine.call(
                    "countWidgets", TestEngine.app, [:], credentials: Self.secret)
                return reply.fields["instances"]?.integer == 1
            }
        }
    }

    private static let secret = "a-secret-of-an-administrator-of-widgets"
    private static let digest = Hex.encode(SHA256.hash(Array(secret.utf8)))

    @Test("A consumer answers requests whose token the kernel has verified")
    func consumer() async throws {
        let policy = """
            tokens: {algorithm: ES256}
            projects:
              - number: \(TestApp.first.projectNumber)
                id: \(TestApp.first.projectID)
                apps:
                  - {id: "\(TestApp.first.id())", providers: {vouch: {}}}
                consumers:
                  desk: {factory: north}
            """
        let settings = ProcessBench.settings("consumer", kind: .consumer, name: "desk")
        try await ProcessBench.with(settings, policy: policy) { bench in
            let vouched = await bench.engine.call("exchangeVouch", TestEngine.app)
            let token = try #require(vouched.fields["token"]?.string)
            let reply = await bench.engine.call("openDesk", "", ["say": "hello"], token: token)
            #expect(reply.fields["subject"]?.string == TestApp.first.id())
            #expect(bench.engine.record(of: reply)?.facts.contains { $0.name.text == "widget_serial" } == true)
            #expect(await bench.engine.call("openDesk", "", ["say": "hello"]).code == .unauthenticated)
            let refused = await bench.engine.call("openDesk", "", ["say": "forged"], token: token)
            #expect(bench.engine.record(of: refused)?.reason == "widget_forged")
            #expect(await bench.engine.call("openDesk", "", ["say": "invalid"], token: token).code == .invalidArgument)
            let fault = await bench.engine.call("openDesk", "", ["say": "list"], token: token)
            #expect(fault.code == .unavailable || fault.code == .internalError)
        }
    }

    @Test("Its maintenance runs, and writes into its own state")
    func maintenance() async throws {
        try await ProcessBench.with(ProcessBench.settings("maintains")) { bench in
            try await withThrowingTaskGroup { group in
                group.addTask { await bench.engine.engine.runMaintenance() }
                try await ProcessBench.wait {
                    bench.engine.clock.advance(by: .seconds(1))
                    let key = StateKey("widget/\(TestEngine.app)", "maintained")
                    return (try? await bench.engine.store.get(key)) != nil
                }
                group.cancelAll()
            }
        }
    }
}
