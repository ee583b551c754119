import AssayCore
import AssayKit
import AssayTesting
import AssayTestSupport
import Foundation
import Testing

/// gRPC's library begins a task for each stream, also for one that its client resets at once.
@Suite("Calls of ext_authz that their client resets", .timeLimit(.minutes(20)))
struct ResetCallsTests {
    private static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt32, _ payload: [UInt8] = []) -> [UInt8] {
        let length = UInt32(payload.count)
        return [
            UInt8(truncatingIfNeeded: length >> 16), UInt8(truncatingIfNeeded: length >> 8),
            UInt8(truncatingIfNeeded: length), type, flags,
        ]
            + withUnsafeBytes(of: stream.bigEndian) { Array($0) } + payload
    }

    /// Fields without a table and without Huffman's code (RFC 7541, section 6.2.2), each by its place in the static table.
    private static let head: [UInt8] = {
        func field(_ name: [UInt8], _ value: String) -> [UInt8] { name + [UInt8(value.utf8.count)] + Array(value.utf8) }
        return [0x83, 0x86] + field([0x04], "/envoy.service.auth.v3.Authorization/Check") + field([0x01], "a")
            + field([0x0F, 0x10], "application/grpc") + field([0x00, 2] + Array("te".utf8), "trailers")
    }()

    /// A connection's beginning, and calls with one whole message, each reset behind it.
    private static func calls(_ count: UInt32) -> [UInt8] {
        var bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(4, stream: 0)
        for number in 0..<count {
            let stream = 2 * number + 1
            bytes += frame(1, flags: 4, stream: stream, head) + frame(0, flags: 1, stream: stream, [0, 0, 0, 0, 0])
            bytes += frame(3, stream: stream, [0, 0, 0, 8])
        }
        return bytes
    }

    @Test("However many there are, they take little memory, and others are answered")
    func flood() async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: SimulatedAppleCA(at: HostClock.system.now))
            let server = try await AssayServer(in: folder, arguments: ["--ext-authz-listen", "127.0.0.1:0"])
            // The other listener may have been announced first.
            var found: Substring?
            for _ in 0..<600 where found == nil {
                found = server.process.errorsSoFar.split(separator: "\n").first {
                    $0.contains("ext_authz") && $0.contains("127.0.0.1:")
                }
                if found == nil { try await Task.sleep(for: .milliseconds(100)) }
            }
            let line = try #require(found)
            let port = try #require(line.split(separator: ":").last.flatMap { Int($0.prefix { $0.isNumber }) })
            let before = try server.memory("VmRSS")
            let bytes = Self.calls(5_000)
            let sockets = try (0..<8).map { try RawSocket(port: port, from: UInt8(2 + $0)) }
            var rests = sockets.map { _ in bytes[...] }
            try await patiently("sending", seconds: 600) {
                for (index, socket) in sockets.enumerated() where !rests[index].isEmpty {
                    let count = try #require(socket.send(rests[index].prefix(65_536)), "the server has closed")
                    rests[index] = rests[index].dropFirst(count)
                    _ = socket.receive()
                }
                return rests.allSatisfy(\.isEmpty) ? () : nil
            }
            #expect(try await server.get("/livez").status == 200)
            let most = try server.memory("VmHWM") - before
            #expect(Machine.hasSanitizer || most < 200 << 20, "40,000 calls that were reset take \(most >> 20) MB")
            _ = await server.end(SIGTERM)
        }
    }
}
