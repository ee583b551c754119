import AssayCore
import AssayCrypto
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import Foundation
import Logging
import Testing
import VisitorPass

/// The consumer in an engine, under the example policy, with a token that the engine issued.
@Suite("The consumer visitor_pass")
struct VisitorPassTests {
    private static let app = "projects/example-project/apps/1:1234567890:web:321abc456def7890"
    private static let debugToken: JSON = "00000000-0000-4000-8000-000000000000"

    private let engine: Engine

    init() throws {
        let policy = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../policies/example.yaml").standardizedFileURL
        engine = try Engine(
            registry: Registry([.provider(DebugProvider.self), .consumer(VisitorPassConsumer.self)]),
            policies: .load([PolicyFile(name: "example.yaml", text: String(contentsOf: policy, encoding: .utf8))]),
            keys: .pooled(),
            host: PluginHost(
                store: MemoryStore(clock: .system),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
    }

    @Test("A client with a token gets a pass that says what it is for")
    func genuine() async throws {
        let reply = try await pass(for: "delivery", token: .one(try await token())).get()
        let pass = try CompactJWS.parse(utf8: Array(try #require(reply["pass"]?.string).utf8)[...])
        let claims = try JSON.parse(pass.payload)
        #expect(claims["purpose"] == "delivery")
        #expect(claims["aud"] == "https://desk.example.com")
        #expect(reply["ttl"] == "300s")
    }

    @Test("A purpose that the policy does not list is refused by its reason")
    func refusal() async throws {
        let refused = await pass(for: "burglary", token: .one(try await token()))
        guard case .failure(let failure) = refused else {
            Issue.record("there was a pass")
            return
        }
        #expect(failure.reason == VisitorPassConsumer.unknownPurpose)
    }

    @Test("Without a valid token there is no pass")
    func noToken() async throws {
        for token in [nil, PresentedToken.one("a.b.c")] {
            let refused = await pass(for: "delivery", token: token)
            #expect(throws: CallFailure.self) { try refused.get() }
        }
    }

    private func token() async throws -> String {
        let call = Call("exchangeDebugToken", resource: Self.app, body: ["debugToken": Self.debugToken])
        return try #require(try await engine.handle(call).result.get()["token"]?.string)
    }

    private func pass(for purpose: String, token: PresentedToken?) async -> Result<JSON, CallFailure> {
        await engine.handle(Call("issueVisitorPass", body: ["purpose": .string(purpose)], token: token)).result
    }
}
