import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import Testing

@Suite("What is counted of connections", .timeLimit(.minutes(20)))
struct ConnectionMetricsTests {
    @Test("Connections are counted while they are open, and refused requests by their status")
    func counts() async throws {
        let numbers = Numbers()
        #expect(numbers["http_connections"] == nil)
        try await TestServer.with(meter: numbers.meter) { port, _ in
            #expect(numbers["http_connections"] == 0)
            try await RawConnection.with(port: port) { first in
                try await RawConnection.with(port: port) { second in
                    try await first.send(TestServer.get("/livez"))
                    #expect(try await first.reply().status == 200)
                    try await second.send(TestServer.get("/nothing"))
                    #expect(try await second.reply().status == 404)
                    #expect(numbers["http_connections"] == 2)
                    try await second.send("GARBAGE\r\n\r\n")
                    #expect(try await second.reply().status == 400)
                }
                while numbers["http_connections"] != 1 { await Task.yield() }
            }
            while numbers["http_connections"] != 0 { await Task.yield() }
        }
        #expect(numbers["http_connections_accepted_total"] == 2)
        #expect(numbers["http_requests_refused_total", "404"] == 1)
        #expect(numbers["http_requests_refused_total", "400"] == 1)
        #expect(numbers["http_accept_failures_total"] == 0)
    }
}
