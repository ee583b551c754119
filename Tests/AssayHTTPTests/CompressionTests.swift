import AssayCore
import AssayHTTP
import AssayKit
import AssayTestSupport
import Testing

@testable import struct AssayHTTP.AcceptedCodings

/// What clients say that they take, and whether a reply is compressed for them.
private let acceptances: [([String], Bool)] = [
    ([], false), ([""], false), (["gzip"], true), (["GZip"], true), (["x-gzip"], true), (["*"], true),
    (["gzip, deflate, br"], true), (["br;q=1.0, gzip;q=0.8, *;q=0.1"], true), (["deflate", "gzip"], true),
    (["gzip ; q=0.5"], true), (["gzip;\tq=1"], true), (["gzip;q=1.000"], true), (["gzip;q=0.001"], true),
    (["gzip;Q=0.5"], true),
    (["deflate"], false), (["br"], false), (["identity"], false), (["gzip;q=0"], false), (["gzip;q=0.000"], false),
    (["gzip;q=0, *"], false), (["*;q=0"], false), (["gzip, *;q=0"], true), (["*;q=0, gzip;q=0.1"], true),
    (["identity;q=1, gzip;q=0.5"], false), (["identity;q=0.5, gzip;q=0.5"], true), (["identity;q=0, gzip"], true),
    (["identity;q=0.5, *;q=0.1"], false), (["gzip, gzip;q=0"], true),
    (["gzip;q=2"], false), (["gzip;q=1.001"], false), (["gzip;q=-1"], false), (["gzip;q=.5"], false),
    (["gzip;q=0.1234"], false), (["gzip;q=0,5"], false), (["gzip;q="], false), (["gzip;q"], false), (["gzip;"], false),
    (["gzip;level=9"], false), (["gzip;q=1;x=y"], false), (["gzipped"], false), ([";,;,"], false),
]

@Suite("Compressed replies", .timeLimit(.minutes(20)))
struct CompressionTests {
    private static let keys: JSON = ["keys": .array((0..<60).map { ["kid": .string("key-\($0)"), "kty": "RSA"] })]
    private static let list = MethodDescriptor(
        name: "listThings", kind: .call(.admin), resources: [.app], path: MethodPath(.get, "/things"))
    private static let show = MethodDescriptor(
        name: "showToken", kind: .call(.mintTokens), resources: [.app], path: MethodPath(.get, "/token"))
    private static let gzip = "Accept-Encoding: gzip\r\n"

    private func answer(
        _ request: String, reply: JSON = keys, pages: HTTPPages = .health
    ) async throws -> RawReply {
        let handler = FakeHandler(methods: FakeHandler.exchanges + [Self.list, Self.show]) { _ in .success(reply) }
        return try await TestGateway.answer(to: request, handler: handler, pages: pages)
    }

    @Test("gzip is used for those who take it, and do not like the plain form better", arguments: acceptances)
    func acceptance(values: [String], isAccepted: Bool) {
        let headers = HeaderFields(values.map { (name: "accept-encoding", value: $0) })
        #expect(AcceptedCodings(headers).preferGZip == isAccepted)
    }

    @Test(
        "the key set, the page of metrics and what administrators read are compressed",
        arguments: ["/v1/jwks", "/metrics", "/v1/projects/p/apps/a/things"])
    func compressed(target: String) async throws {
        let text = String(repeating: "assay_up 1\n", count: 1000)
        let pages = HTTPPages(metrics: { _ in HTTPPage(contentType: "text/plain", body: Array(text.utf8)) })
        let plain = try await answer(TestGateway.get(target), pages: pages)
        let reply = try await answer(TestGateway.get(target, headers: Self.gzip), pages: pages)
        #expect(plain.status == 200 && reply.status == 200)
        #expect(plain["content-encoding"] == nil)
        #expect(reply["content-encoding"] == "gzip")
        #expect(reply["content-type"] == plain["content-type"])
        #expect(plain["vary"] == "Accept-Encoding" && reply["vary"] == "Accept-Encoding")
        #expect(reply.body.count < plain.body.count / 2)
        #expect(try reply.decompressed == plain.body)
        let head = try await answer(
            "HEAD \(target) HTTP/1.1\r\nHost: a\r\n\(Self.gzip)\r\n", pages: pages)
        #expect(head["content-length"] == reply["content-length"])
        #expect(head["content-encoding"] == "gzip")
    }

    @Test(
        "what may hold a token is not, and neither is what is short or an error",
        arguments: [
            TestGateway.post("/v1/projects/p/apps/a:exchangeDebugToken", "{}", headers: gzip),
            TestGateway.get("/v1/projects/p/apps/a/token", headers: gzip),
            TestGateway.get("/nothing", headers: gzip), TestGateway.get("/healthz", headers: gzip),
        ])
    func plain(request: String) async throws {
        let reply = try await answer(request)
        #expect(reply["content-encoding"] == nil)
        #expect(reply["vary"] == nil)
        #expect(throws: Never.self) { try reply.json }
    }

    @Test("a body of 1024 bytes is compressed, and one of 1023 is not", arguments: [(1023, false), (1024, true)])
    func threshold(size: Int, isCompressed: Bool) async throws {
        // {"k":"…"}
        let reply = try await answer(
            TestGateway.get("/v1/jwks", headers: Self.gzip),
            reply: ["k": .string(String(repeating: "x", count: size - 8))])
        #expect((reply["content-encoding"] == "gzip") == isCompressed)
        #expect(reply["vary"] == "Accept-Encoding")
        if !isCompressed { #expect(reply.body.count == size) }
    }

    @Test("each form has a tag of its own, and whoever has either gets a head only")
    func tags() async throws {
        let plain = try #require(try await answer(TestGateway.get("/v1/jwks"))["etag"])
        let packed = try #require(try await answer(TestGateway.get("/v1/jwks", headers: Self.gzip))["etag"])
        #expect(plain != packed)
        for accepting in ["", Self.gzip] {
            for tag in [plain, packed, "W/\(plain)", "W/\(packed)"] {
                let reply = try await answer(
                    TestGateway.get("/v1/jwks", headers: accepting + "If-None-Match: \(tag)\r\n"))
                #expect(reply.status == 304)
                #expect(reply["etag"] == tag.replacing("W/", with: ""))
                #expect(reply["vary"] == "Accept-Encoding")
                #expect(reply["content-encoding"] == nil)
            }
            let any = try await answer(TestGateway.get("/v1/jwks", headers: accepting + "If-None-Match: *\r\n"))
            #expect(any.status == 304)
            #expect(any["etag"] == (accepting.isEmpty ? plain : packed))
            let both = try await answer(
                TestGateway.get("/v1/jwks", headers: accepting + "If-None-Match: \(plain), \(packed)\r\n"))
            #expect(both["etag"] == (accepting.isEmpty ? plain : packed))
            let other = try await answer(
                TestGateway.get("/v1/jwks", headers: accepting + "If-None-Match: \"x\"\r\n"))
            #expect(other.status == 200)
        }
    }

    @Test("a compressed request is refused, with what is taken instead")
    func request() async throws {
        let reply = try await answer(
            TestGateway.post("/v1/projects/p/apps/a:exchangeDebugToken", "x", headers: "Content-Encoding: gzip\r\n"))
        #expect(reply.status == 415)
        #expect(reply["accept-encoding"] == "identity")
    }
}
