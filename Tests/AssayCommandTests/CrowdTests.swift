import AssayCore
import AssayKit
import AssayTestSupport

#if os(Linux)
import AssayTesting
import Foundation
import Testing

/// Many connections at once to a real server, whose memory is looked at.
@Suite("Crowds", .serialized, .timeLimit(.minutes(10)))
struct CrowdTests {
    private let authority: SimulatedAppleCA

    init() throws {
        authority = try SimulatedAppleCA(at: HostClock.system.now)
    }

    @Test(
        "10,000 idle connections leave it answering others within bounded memory, and are let go without a trace",
        .enabled(if: Machine.allowsOpenFiles(12_000), "a process may not have 12,000 files open here (ulimit -n)"))
    func idle() async throws {
        // A busy machine takes minutes for so many connections.
        try await withServer(["--idle-time", "3600", "--receive-time", "600"]) { server in
            let port = try server.port
            var idle: [RawSocket] = []
            for batch in 0..<40 {
                var sockets: [RawSocket] = []
                for number in 0..<250 {
                    // 2,500 of each address, so that its ports do not run short.
                    sockets.append(try RawSocket(port: port, from: UInt8(2 + (batch * 250 + number) / 2_500)))
                }
                for socket in sockets { try await socket.sendAll(AssayServer.get("/livez")) }
                for socket in sockets { #expect(try await socket.reply()?.status == 200) }
                idle += sockets
                // Somebody else, in between.
                #expect(try await server.ask(AssayServer.get("/v1/jwks")).status == 200)
            }
            let open = try server.openFiles
            let most = try server.memory("VmRSS")
            // Those that were connected first have been idle longest, and may have had to make room.
            #expect(open > 9_900)
            #expect(Machine.hasSanitizer || most < 400 << 20, "10,000 idle connections take \(most >> 20) MB")

            for _ in 0..<100 { #expect(try await server.ask(AssayServer.get("/v1/jwks")).status == 200) }
            #expect(idle.count { $0.hasEnded } < 1_000)

            idle = []
            try await patiently("closing what clients have closed") { try server.openFiles < 100 ? () : nil }
            #expect(try await server.get("/readyz").status == 200)
        }
    }

    @Test("connections on which nothing is sent, and requests that drip in, are cut off, and others answered meanwhile")
    func silent() async throws {
        try await withServer { server in
            let port = try server.port
            let parts = [
                "", "G", "POST / HTTP/1.1\r\nX: ", AssayServer.head("exchangeDebugToken", length: 60_000) + "{",
            ]
            let sockets = try (0..<400).map { _ in try RawSocket(port: port) }
            for (number, socket) in sockets.enumerated() { try await socket.sendAll(parts[number % parts.count]) }
            var rest = sockets
            try await patiently("cutting silent clients off") {
                #expect(try await server.ask(AssayServer.get("/v1/jwks")).status == 200)
                // To some a refusal is sent first.
                rest.removeAll { socket in
                    while case .bytes = socket.receive() {}
                    return socket.hasEnded
                }
                for (number, socket) in rest.enumerated() where number % 8 == 0 { _ = socket.send([0x61]) }
                try await Task.sleep(for: .milliseconds(100))
                return rest.isEmpty ? () : nil
            }
            try await patiently("closing") { try server.openFiles < 100 ? () : nil }
        }
    }

    @Test("clients that send without end and read nothing are held back, within bounded memory")
    func unread() async throws {
        try await withServer { server in
            let port = try server.port
            let before = try server.memory("VmHWM")
            let sockets = try (0..<200).map { _ in try RawSocket(port: port, receiveBuffer: 4096) }
            let requests = Array(String(repeating: AssayServer.get("/v1/jwks"), count: 1000).utf8)
            var sent = [Int](repeating: 0, count: sockets.count)
            // Until nobody has got rid of a byte for a while.
            var quietRounds = 0
            try await patiently("holding clients back") {
                var total = 0
                for (index, socket) in sockets.enumerated() {
                    // From where the last request was cut, so that none is garbage.
                    let count = socket.send(requests[(sent[index] % requests.count)...]) ?? 0
                    sent[index] += count
                    total += count
                }
                quietRounds = total == 0 ? quietRounds + 1 : 0
                #expect(try await server.ask(AssayServer.get("/livez")).status == 200)
                guard quietRounds < 20, sent.max() ?? 0 < 16 << 20 else { return () }
                try await Task.sleep(for: .milliseconds(20))
                return nil
            }
            #expect(sent.max() ?? 0 < 16 << 20, "a client could send as much as it liked")
            let growth = try server.memory("VmHWM") - before
            #expect(Machine.hasSanitizer || growth < 64 << 20, "200 clients took \(growth >> 20) MB")
        }
    }

    private func withServer(
        _ arguments: [String] = [], _ body: (AssayServer) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: authority)
            // Other than root may look at the files of a process only while that may dump core.
            let server = try await AssayServer(
                in: folder, arguments: ["--log-level", "error", "--core-dumps"] + arguments)
            do {
                try await body(server)
            } catch {
                _ = await server.end(SIGKILL)
                throw error
            }
            #expect(await server.end(SIGTERM).status == 0)
        }
    }
}
#endif
