import AssayCore
import AssayHTTP
import AssayKit
import AssayTestSupport
import Testing

@Suite("Pages for operators", .timeLimit(.minutes(20)))
struct PagesTests {
    private static let metrics = HTTPPages(
        showsDetail: true,
        metrics: { accept in
            HTTPPage(contentType: "text/plain; version=0.0.4; charset=utf-8", body: Array("accept \(accept)\n".utf8))
        })

    @Test("Under both of its names, health is that the process answers", arguments: ["/livez", "/healthz"])
    func alive(_ path: String) async throws {
        let reply = try await TestGateway.answer(
            to: TestGateway.get(path), handler: FakeHandler(readiness: .notReady("not yet")))
        #expect(reply.status == 200)
        #expect(try reply.json == ["status": "ok"])
    }

    @Test(
        "Readiness is the worst of all that is asked, with every reason for it",
        arguments: [
            (Readiness.ready, [], 200, ["status": "ok"]), (.ready, [Readiness.ready], 200, ["status": "ok"]),
            (.degraded("a"), [], 200, ["status": "degraded", "reason": "a"]),
            (.ready, [.degraded("b")], 200, ["status": "degraded", "reason": "b"]),
            (.degraded("a"), [.ready, .degraded("b")], 200, ["status": "degraded", "reason": "a; b"]),
            (.degraded("a"), [.notReady("b"), .notReady("c")], 503, Self.unavailable("b; c")),
            (.notReady("a"), [.degraded("b")], 503, Self.unavailable("a")),
        ] as [(Readiness, [Readiness], Int, JSON)])
    func readiness(_ own: Readiness, _ others: [Readiness], _ status: Int, _ body: JSON) async throws {
        let log = RecordingLog()
        let numbers = Numbers()
        let pages = HTTPPages(showsDetail: true, checks: others.map { other in { other } })
        let reply = try await TestGateway.answer(
            to: TestGateway.get("/readyz"), handler: FakeHandler(readiness: own), logger: log.logger, pages: pages,
            meter: numbers.meter)
        #expect(reply.status == status)
        #expect(try reply.json == body)
        #expect(reply["cache-control"] == "no-store")
        #expect(!log.lines.contains { $0.hasPrefix("request refused") }, "it is an answer and no refusal")
        #expect(numbers["http_requests_refused_total"] == nil)
    }

    @Test(
        "Where strangers reach it, readiness is a status and no reason",
        arguments: [
            (Readiness.ready, 200, ["status": "ok"]), (.degraded("policies/a.yaml:7"), 200, ["status": "ok"]),
            (.notReady("policies/a.yaml:7"), 503, Self.unavailable("The service is not ready.")),
        ] as [(Readiness, Int, JSON)])
    func readinessWithoutDetail(_ readiness: Readiness, _ status: Int, _ body: JSON) async throws {
        let pages = HTTPPages(
            showsDetail: true, checks: [{ readiness }], metrics: { _ in HTTPPage(contentType: "text/plain", body: []) }
        ).withoutDetail
        for pages in [pages, HTTPPages(checks: [{ readiness }])] {
            let reply = try await TestGateway.answer(to: TestGateway.get("/readyz"), pages: pages)
            #expect(reply.status == status)
            #expect(try reply.json == body)
            #expect(try await TestGateway.answer(to: TestGateway.get("/livez"), pages: pages).status == 200)
            #expect(try await TestGateway.answer(to: TestGateway.get("/metrics"), pages: pages).status == 404)
        }
    }

    @Test("Notes are shown to operators, whatever the readiness is, and never where strangers reach the page")
    func notes() async throws {
        for readiness in [Readiness.ready, .degraded("a"), .notReady("b")] {
            var pages = HTTPPages(showsDetail: true, checks: [{ readiness }])
            pages.notes = [{ "it may forget" }, { nil }]
            let shown = try await TestGateway.answer(to: TestGateway.get("/readyz"), pages: pages)
            #expect(try shown.json["notes"] == ["it may forget"])
            #expect(shown.status == (readiness == .notReady("b") ? 503 : 200))
            let hidden = try await TestGateway.answer(to: TestGateway.get("/readyz"), pages: pages.withoutDetail)
            #expect(try hidden.json["notes"] == nil)
        }
    }

    private static func unavailable(_ reason: String) -> JSON {
        ["error": ["code": 503, "message": .string(reason), "status": "UNAVAILABLE"]]
    }

    @Test("The page of metrics is what its maker makes of the Accept headers")
    func metrics() async throws {
        let reply = try await TestGateway.answer(
            to: TestGateway.get("/metrics", headers: "Accept: text/plain\r\nAccept: */*\r\n"), pages: Self.metrics)
        #expect(reply.status == 200)
        #expect(reply["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(reply["cache-control"] == "no-store")
        #expect(String(decoding: reply.body, as: UTF8.self) == "accept text/plain,*/*\n")
        let head = try await TestGateway.answer(to: "HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n", pages: Self.metrics)
        #expect(head.status == 200)
        #expect(head["content-length"] == "8")
        #expect(try await TestGateway.answer(to: TestGateway.post("/metrics"), pages: Self.metrics).status == 405)
        #expect(try await TestGateway.answer(to: TestGateway.get("/metrics")).status == 404)
    }

    @Test(
        "What is for operators is answered for an address or a known host only, so that no web page reads it (DNS rebinding)",
        arguments: [
            ("127.0.0.1", true), ("192.0.2.7:8081", true), ("[::1]", true), ("[2001:db8::1]:8081", true),
            ("localhost:8081", true), ("assay", true), ("ASSAY:8081", true), ("assay.example.com", false), ("", false),
            ("rebound.example.com:8081", false), ("127.0.0.1.example.com", false), ("1.2.3", false),
            ("0x7f000001", false),
            ("::1", false), ("[::1", false), ("[127.0.0.1.example]", false), ("assay:80:80", false), ("assay.", false),
        ])
    func hosts(_ host: String, isAnswered: Bool) async throws {
        var pages = HTTPPages(showsDetail: true, metrics: { _ in HTTPPage(contentType: "text/plain", body: []) })
        pages.hosts = PageHosts(["Assay"])
        for path in ["/readyz", "/metrics", "/plugins"] {
            for verb in ["GET", "HEAD"] {
                let reply = try await TestGateway.answer(
                    to: "\(verb) \(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n", pages: pages)
                #expect(reply.status == (isAnswered ? 200 : 421), "\(path)")
            }
            let url = "GET http://\(host)\(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            #expect(try await TestGateway.answer(to: url, pages: pages).status == (isAnswered ? 200 : 421), "\(path)")
        }
        let alive = "GET /livez HTTP/1.1\r\nHost: \(host)\r\n\r\n"
        #expect(try await TestGateway.answer(to: alive, pages: pages).status == 200)
        pages.hosts = nil
        let any = "GET /metrics HTTP/1.1\r\nHost: \(host)\r\n\r\n"
        #expect(try await TestGateway.answer(to: any, pages: pages).status == 200)
    }

    @Test("A listener without pages has none of them, and one of pages has no method")
    func elsewhere() async throws {
        let pages = ["/livez", "/healthz", "/readyz", "/metrics"]
        for path in pages {
            #expect(try await TestGateway.answer(to: TestGateway.get(path), pages: .none).status == 404)
        }
        let handler = FakeHandler(readiness: .notReady("not yet"))
        let only = PagesOnly(handler)
        let gateway = try HTTPGateway(handler: only, pages: Self.metrics, logger: TestGateway.logger)
        var statuses: [Int] = []
        for path in pages + ["/v1/jwks"] {
            statuses.append(await gateway.reply(to: GatewayRequest(method: "GET", target: path), peer: nil).status.code)
        }
        #expect(statuses == [200, 200, 503, 200, 404])
        #expect(handler.calls.isEmpty)
        #expect(await only.handle(Call("jwks")).result.isFailure)
    }

}

extension Result {
    fileprivate var isFailure: Bool {
        if case .failure = self { true } else { false }
    }
}
