import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import Foundation
import NIOCore
import Synchronization
import Testing

@Suite("The threads that requests are answered on", .timeLimit(.minutes(20)))
struct ThreadTests {
    private static let exchange = "/v1/projects/1/apps/2:exchangeDebugToken"

    /// A handler that notes the names of its threads, also after it has waited.
    private static func handler(_ names: Names) -> FakeHandler {
        FakeHandler { _ in
            names.note()
            try? await Task.sleep(for: .milliseconds(1))
            names.note()
            return .success(["token": "t"])
        }
    }

    private final class Names: Sendable {
        private let all = Mutex<[String]>([])

        var value: [String] { all.withLock { $0 } }

        func note() {
            let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
            all.withLock { $0.append(name ?? "") }
        }
    }

    @Test("HTTP/1.1: the thread that its connection is read on, from the first byte to the last")
    func connection() async throws {
        let names = Names()
        try await TestServer.with(Self.handler(names)) { port, _ in
            try await RawConnection.with(port: port) { connection in
                for _ in 0..<20 {
                    try await connection.send(TestServer.post(Self.exchange, "{}"))
                    #expect(try await connection.reply().status == 200)
                }
            }
        }
        #expect(names.value.count == 40)
        #expect(Set(names.value).count == 1, "\(names.value)")
        #expect(names.value.first?.hasPrefix("NIO-") == true, "\(names.value)")
    }

    @Test(
        "HTTP/2: the connection's thread for one request at a time; other threads for many, since one connection may carry all of a proxy",
        arguments: [1, 20])
    func streams(atOnce: Int) async throws {
        let names = Names()
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        try await TestServer.with(Self.handler(names), certificate: files.open()) { port, _ in
            try await StreamClient.with(port: port, identity: identity) { client in
                for first in stride(from: 1, to: 41, by: 2 * atOnce) {
                    let streams = (0..<atOnce).map { first + 2 * $0 }
                    for stream in streams { try await client.post(stream, Self.exchange, "{}") }
                    for stream in streams { #expect(try await client.reply(stream).status == 200) }
                }
            }
        }
        #expect(names.value.count == 40)
        let others = names.value.count { !$0.hasPrefix("NIO-") }
        // A process with one processor has one thread.
        let areOthersExpected = atOnce > 1 && System.coreCount > 1
        #expect(areOthersExpected ? others > 0 : others == 0, "\(names.value)")
    }
}
