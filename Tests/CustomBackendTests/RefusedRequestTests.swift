import AssayCore
import AssayCustomBackend
import AssayEngine
import AssayKit
import AssayTesting
import Testing

@Suite("What is put on record of a proxy's question")
struct RefusedRequestTests {
    private static let section = """
        tokens: {accept_development: true}
        backends:
          orders:
            original_request: x-original
            tokens: {enforcement: ENFORCED}
            routes: [{path: /payments/*, methods: [POST], tokens: {limited_use: true}}]
          trial:
            original_request: x-original
            tokens: {enforcement: UNENFORCED}
            routes: [{path: /payments/*, methods: [POST], tokens: {limited_use: true}}]
        """

    private func facts(_ service: VerifyService, _ reply: Reply) throws -> [String] {
        let record = try #require(service.sink.record(of: reply.decision))
        return record.facts.filter { [.requestMethod, .requestPath].contains($0.name) }.map { "\($0.name) \($0.value)" }
    }

    @Test("A limited-use token is not consumed by a request that is refused for what it asks")
    func unconsumed() async throws {
        let service = try VerifyService(Self.section)
        let token = try await service.token(limitedUse: true)
        let several: JSON = ["originalMethod": ["GET", "POST"], "originalUri": "/payments/1"]
        for refused in await [
            service.ask("orders", token), service.ask("orders", token, several),
            service.ask("orders", token, "POST", "//payments/1"), service.ask("orders", token, "POST", "/PAYMENTS/1"),
            service.ask("none", token, "POST", "/payments/1"),
        ] {
            #expect(throws: CallFailure.self) { try refused.result.get() }
        }
        _ = try await service.ask("orders", token, "POST", "/payments/1").result.get()
        let again = await service.ask("orders", token, "POST", "/payments/1")
        #expect(throws: CallFailure.self) { try again.result.get() }
    }

    @Test(
        "A request that is not let through, or would not be, is known by its method and path, and its query stays out")
    func refused() async throws {
        let service = try VerifyService(Self.section)
        let session = try await service.token()
        for (backend, token, target) in [
            ("orders", session, "/payments/1?secret=1"), ("orders", nil, "/payments/1"),
            ("trial", session, "/payments/1?secret=1"), ("orders", session, "//payments/1?secret=1"),
        ] {
            let reply = await service.ask(backend, token, "POST", target)
            let path = try #require(target.split(separator: "?").first)
            #expect(try facts(service, reply) == ["request_method POST", "request_path \(path)"], "\(target)")
        }
        #expect(try await facts(service, service.ask("orders", session, "GET", "/payments/1")).isEmpty)
        #expect(try await facts(service, service.ask("none", session, "POST", "/payments/1")).isEmpty)
        let several = await service.ask(
            "orders", session,
            ["originalMethod": ["GET", "POST"], "originalUri": .string("/" + String(repeating: "x", count: 2000))])
        let record = try #require(service.sink.record(of: several.decision))
        let text = record.facts.map { "\($0.value)" }
        #expect(text.contains("GET, POST"))
        #expect(text.allSatisfy { $0.utf8.count <= 512 })
    }
}
