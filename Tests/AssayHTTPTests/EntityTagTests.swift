import AssayCore
import AssayHTTP
import AssayKit
import AssayTestSupport
import Testing

@Suite("The key set and what clients keep of it", .timeLimit(.minutes(20)))
struct EntityTagTests {
    private func get(
        _ headers: String = "", key: String = "k", verb: String = "GET", lifetime: Duration? = nil
    ) async throws -> RawReply {
        let handler = FakeHandler(lifetime: lifetime) { _ in .success(["keys": [["kid": .string(key)]]]) }
        return try await TestGateway.answer(
            to: "\(verb) /v1/jwks HTTP/1.1\r\nHost: a\r\n\(headers)\r\n", handler: handler)
    }

    @Test("it has a strong tag, which changes when the keys do")
    func tag() async throws {
        let first = try await get()
        let tag = try #require(first["etag"])
        #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.count > 20)
        #expect(first["cache-control"] == "public, max-age=3600")
        #expect(try await get()["etag"] == tag)
        #expect(try await get(verb: "HEAD")["etag"] == tag)
        #expect(try await get(key: "other")["etag"] != tag)
    }

    @Test("it may be kept for as long as the kernel says, also by who has it already")
    func lifetime() async throws {
        let first = try await get(lifetime: .milliseconds(60_900))
        #expect(first["cache-control"] == "public, max-age=60")
        let tag = try #require(first["etag"])
        let again = try await get("If-None-Match: \(tag)\r\n", lifetime: .seconds(61))
        #expect(again.status == 304 && again["cache-control"] == "public, max-age=61")
        #expect(try await get(lifetime: .seconds(-1))["cache-control"] == "public, max-age=0")
    }

    @Test(
        "who has it already gets a head only, with what keeps it fresh",
        arguments: [
            "If-None-Match: TAG\r\n", "If-None-Match: W/TAG\r\n", "If-None-Match: \"x\", TAG\r\n",
            "If-None-Match: *\r\n",
        ])
    func known(header: String) async throws {
        let tag = try #require(try await get()["etag"])
        let reply = try await get(header.replacing("TAG", with: tag))
        #expect(reply.status == 304)
        #expect(reply.body.isEmpty)
        #expect(reply["etag"] == tag)
        #expect(reply["cache-control"] == "public, max-age=3600")
        #expect(reply["content-type"] == nil)
        #expect(reply["access-control-allow-origin"] == "*")
    }

    @Test("who has another gets the whole", arguments: ["\"x\"", "x", "\"", "W/", ""])
    func unknown(tag: String) async throws {
        let reply = try await get("If-None-Match: \(tag)\r\n")
        #expect(reply.status == 200)
        #expect(try reply.json["keys"] != nil)
    }

    @Test("other replies have no tag, and are not kept")
    func others() async throws {
        let reply = try await TestGateway.answer(
            to: TestGateway.post("/v1/projects/p/apps/a:exchangeDebugToken", "{}", headers: "If-None-Match: *\r\n"))
        #expect(reply.status == 200)
        #expect(reply["etag"] == nil)
        #expect(reply["cache-control"] == "no-store")
    }
}
