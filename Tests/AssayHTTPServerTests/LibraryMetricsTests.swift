import AssayCore
import AssayHTTP
import AssayServer
import AssayTestSupport
import CoreMetrics
import Testing

@Suite("Metrics of libraries on a running server", .timeLimit(.minutes(20)))
struct LibraryMetricsTests {
    @Test("What a library records while a server runs is on its page beside the server's own numbers")
    func page() async throws {
        let registry = MetricRegistry()
        let libraries = LibraryMetrics(in: registry)
        let pages = HTTPPages(
            showsDetail: true,
            metrics: { accept in
                let format = ExpositionFormat(accept: accept)
                return HTTPPage(contentType: format.contentType, body: registry.page(format))
            })
        try await TestServer.with(pages: pages, meter: registry.meter) { port, _ in
            Counter(label: "pool.requests", dimensions: [("host", "a")], factory: libraries).increment()
            Timer(label: "pool.wait", factory: libraries).recordMilliseconds(20)
            Gauge(label: "pool.size", factory: libraries).record(8)
            let reply = try await RawConnection.with(port: port) { connection in
                try await connection.send(TestServer.get("/metrics"))
                return try await connection.reply(hasBody: true)
            }
            #expect(reply.status == 200)
            let lines = String(decoding: reply.body, as: UTF8.self).split(separator: "\n")
            for line in [
                "pool_requests_total{host=\"a\"} 1", "pool_wait_seconds_sum 0.02", "pool_wait_seconds_count 1",
                "# TYPE pool_wait_seconds histogram", "pool_size 8", "assay_http_connections 1",
            ] {
                #expect(lines.contains { $0 == line }, "\(line)")
            }
        }
    }
}
