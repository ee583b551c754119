import AssayCore
import AssayKit
import AssayTestSupport

#if os(Linux)
import AssayTesting
import Foundation
import Testing

@Suite("SIGTERM under load", .timeLimit(.minutes(10)))
struct ShutdownUnderLoadTests {
    @Test("requests that have begun are answered whole, and the server ends with 0")
    func begunRequests() async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: SimulatedAppleCA(at: HostClock.system.now))
            let server = try await AssayServer(
                in: folder, environment: ["ASSAY_DEBUG_TOKEN": AssayServer.debugToken])
            let port = try server.port
            let body = "{\"debug_token\":\"\(AssayServer.debugToken)\"}"
            // Those that were told to continue have begun, and are known to the server.
            var begun: [RawSocket] = []
            let start = ContinuousClock.now
            for _ in 0..<10 {
                let socket = try RawSocket(port: port)
                let head = AssayServer.head(
                    "exchangeDebugToken", length: body.utf8.count, headers: "Expect: 100-continue\r\n")
                try await socket.sendAll(head)
                #expect(try await socket.reply(hasBody: false)?.status == 100)
                try await socket.sendAll(String(body.prefix(begun.count * 3)))
                begun.append(socket)
            }

            try await withThrowingTaskGroup(of: Int.self) { load in
                for _ in 0..<8 {
                    load.addTask {
                        var answered = 0
                        // Until the server takes no more connections. A reply that is cut short is an error.
                        while let socket = try? RawSocket(port: port) {
                            guard (try? await socket.sendAll(AssayServer.get("/v1/jwks"))) != nil,
                                let reply = try await socket.reply()
                            else { break }
                            #expect(reply.status == 200)
                            answered += 1
                        }
                        return answered
                    }
                }
                try await Task.sleep(for: .milliseconds(300))
                kill(server.processID, SIGTERM)
                var answered = 0
                for try await count in load { answered += count }
                #expect(answered > 0)
            }

            for (number, socket) in begun.enumerated() {
                // On a machine so busy that the time for a body has passed by now, the server rightly waits no longer.
                guard ContinuousClock.now - start < .seconds(8) else { break }
                try await socket.sendAll(String(body.dropFirst(number * 3)))
                let reply = try #require(try await socket.reply())
                #expect(reply.status == 200)
                #expect(reply.headers["connection"] == "close")
                try await socket.end()
            }
            let result = await server.process.result()
            #expect(result.status == 0)
            #expect(!result.errors.contains("cancelled"))
        }
    }
}
#endif
