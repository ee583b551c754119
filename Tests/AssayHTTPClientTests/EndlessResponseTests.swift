import AssayCore
import AssayHTTPClient
import AssayKit
import Foundation
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
import SwiftOverlayShims
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite("Servers that never come to the end of a response", .timeLimit(.minutes(20)))
struct EndlessResponseTests {
    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    private static let hundred = String(repeating: "x", count: 100)
    private static let thousand = String(repeating: "x", count: 1000)

    /// How a response begins, and what is repeated then.
    private static let responses: [(String, String)] = [
        ("", "HTTP/1.1 100 Continue\r\n\r\n"),
        ("", "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nX: \(thousand)\r\n\r\n"),
        (ok, "X-Header: \(hundred)\r\n"),
        ("\(ok)X: ", thousand),
        ("\(chunked)1;x=", thousand),
        ("\(chunked)1\r\nx\r\n0\r\n", "X-Trailer: \(hundred)\r\n"),
        (chunked, "1\r\nx\r\n"),
    ]

    @Test("A response without end is ended by its bytes, long before its time", arguments: responses)
    func endless(_ beginning: String, _ repeated: String) async throws {
        let server = try EndlessServer(beginning, repeated)
        let client = try HTTPClientService()
        let url = try #require(EndpointURL("http://127.0.0.1:\(server.port)/"))
        let code: OutboundFailure.Code?
        do throws(OutboundFailure) {
            _ = try await client.send(OutboundRequest(.get, url, timeLimit: .seconds(120), responseLimit: 256 * 1024))
            code = nil
        } catch {
            code = error.code
        }
        await client.shutDown()
        // What its parser does not take at all ends the response, too.
        #expect(code == .tooLarge || code == .interrupted, "\(String(describing: code))")
        // Besides what was read there is what the kernel holds for a socket.
        let sent = await server.sent()
        #expect(sent < 32 * 1024 * 1024, "\(sent) bytes")
    }

    @Test(
        "A status that HTTP does not have is an error, whatever follows it",
        arguments: ["000", "001", "099"],
        [
            "Content-Length: 0\r\n\r\n", "Content-Length: 5\r\n\r\nhello", "\r\n",
            "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ])
    func noStatus(_ status: String, _ rest: String) async throws {
        let server = try EndlessServer("HTTP/1.1 \(status) x\r\n\(rest)", "", answers: 1)
        let client = try HTTPClientService(HTTPClientOptions(connectionsPerServer: 1))
        let url = try #require(EndpointURL("http://127.0.0.1:\(server.port)/"))
        let error = await #expect(throws: OutboundFailure.self) {
            _ = try await client.send(OutboundRequest(.get, url, timeLimit: .seconds(60)))
        }
        #expect(error?.code != .timedOut)
        await client.shutDown()
    }

    @Test("Some informational responses, and large headers, are no reason to give up; each request begins anew")
    func allowed() async throws {
        let hints = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 8)
        let fields = "X: \(String(repeating: "x", count: 30_000))\r\n"
        let answer = hints + Self.ok + fields + "Content-Length: 5\r\n\r\nhello"
        let server = try EndlessServer(answer, "", answers: 20)
        let client = try HTTPClientService(
            HTTPClientOptions(connectionsPerServer: 1, idleTimeout: .seconds(3600), responseBytes: 64 * 1024))
        let url = try #require(EndpointURL("http://127.0.0.1:\(server.port)/"))
        for _ in 0..<20 {
            let response = try await client.send(OutboundRequest(.get, url, timeLimit: .seconds(60)))
            #expect(response.body == Array("hello".utf8))
        }
        await client.shutDown()
        #expect(server.connections == 1)
    }
}

/// A server on a socket that begins a response and repeats a text as long as it is read.
private final class EndlessServer: Sendable {
    private struct State {
        var sent = 0
        var connections = 0
        var hasEnded = false
    }

    let port: Int
    private let state = Mutex(State())

    /// - Parameter answers: how many requests of a connection are answered with the beginning alone, where there is nothing
    ///   to repeat.
    init(_ beginning: String, _ repeated: String, answers: Int = 1) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 8) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        try #require(isBound)
        port = Int(UInt16(bigEndian: address.sin_port))
        let times = repeated.isEmpty ? 0 : max(65_536 / repeated.utf8.count, 1)
        let block = Array(String(repeating: repeated, count: times).utf8)
        Thread { [self] in
            let connection = accept(listener, nil, nil)
            state.withLock { $0.connections += 1 }
            var request = [UInt8](repeating: 0, count: 65_536)
            for _ in 0..<answers {
                guard recv(connection, &request, request.count, 0) > 0 else { break }
                send(connection, Array(beginning.utf8))
            }
            while !block.isEmpty, send(connection, block) {}
            close(connection)
            close(listener)
            state.withLock { $0.hasEnded = true }
        }.start()
    }

    var connections: Int { state.withLock { $0.connections } }

    /// How many bytes were sent when the client had enough of them.
    func sent() async -> Int {
        while !state.withLock({ $0.hasEnded }) { try? await Task.sleep(for: .milliseconds(10)) }
        return state.withLock { $0.sent }
    }

    @discardableResult
    private func send(_ connection: Int32, _ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { writeBytes(connection, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
            state.withLock { $0.sent += count }
        }
        return true
    }
}

// Within the type above the name is that of its own method.
private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    send(descriptor, start, count, Int32(MSG_NOSIGNAL))
}
