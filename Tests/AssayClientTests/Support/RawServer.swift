import Foundation
import Glibc
import SwiftOverlayShims
import Synchronization

/// A server of bytes on this machine, for answers that no server for HTTP would give.
final class RawServer: Sendable {
    /// One connection, whose request was read.
    struct Connection: Sendable {
        fileprivate let socket: Int32
        fileprivate let server: RawServer
        /// The path of the request.
        let path: String

        /// Sends bytes.
        ///
        /// - Returns: whether the client still takes some.
        @discardableResult
        func send(_ text: String) -> Bool { send(Array(text.utf8)) }

        /// The same.
        @discardableResult
        func send(_ bytes: [UInt8]) -> Bool {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                server.state.withLock { $0.bytes += count }
                rest = rest.dropFirst(count)
            }
            return true
        }

        /// Sends a whole response.
        func respond(_ status: Int, _ body: String, _ headers: String = "") {
            send(
                "HTTP/1.1 \(status) Status\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\(headers)\r\n\(body)"
            )
        }

        /// Sends the same again and again, until the client goes or the test ends.
        func repeats(_ text: String, pause: useconds_t = 0) {
            while !server.state.withLock({ $0.isEnding }), send(text) { if pause > 0 { usleep(pause) } }
        }

        /// Waits until the client goes or the test ends.
        func wait() {
            var byte: UInt8 = 0
            while !server.state.withLock({ $0.isEnding }), recv(socket, &byte, 1, Int32(MSG_DONTWAIT)) != 0 {
                usleep(10_000)
            }
        }
    }

    typealias Answer = @Sendable (Connection) -> Void

    private struct State {
        var answer: Answer
        var bytes = 0
        var requests = 0
        var isEnding = false
    }

    let base: String
    private let listener: Int32
    private let state: Mutex<State>

    /// - Parameter answer: runs in a thread of the connection's own; the connection is closed when it returns.
    private init(_ answer: @escaping Answer) throws {
        struct Failure: Error {}
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isBound else { throw Failure() }
        self.listener = listener
        base = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        state = Mutex(State(answer: answer))
    }

    /// How many bytes clients, and the buffers between, took.
    var bytesTaken: Int { state.withLock { $0.bytes } }
    /// How many requests came.
    var requests: Int { state.withLock { $0.requests } }

    /// Has later requests answered in another way.
    func answer(_ answer: @escaping Answer) { state.withLock { $0.answer = answer } }

    /// Serves while something runs.
    static func with(_ answer: @escaping Answer, _ body: (RawServer) async throws -> Void) async throws {
        let server = try RawServer(answer)
        Thread.detachNewThread { server.acceptAll() }
        defer {
            server.state.withLock { $0.isEnding = true }
            // Ends the wait for a connection.
            shutdown(server.listener, Int32(SHUT_RDWR))
        }
        try await body(server)
    }

    private func acceptAll() {
        while true {
            let socket = accept(listener, nil, nil)
            guard socket >= 0 else { break }
            Thread.detachNewThread {
                defer { close(socket) }
                guard let path = self.readRequest(socket) else { return }
                let answer = self.state.withLock { state in
                    state.requests += 1
                    return state.answer
                }
                answer(Connection(socket: socket, server: self, path: path))
            }
        }
        close(listener)
    }

    /// Reads a whole request, and returns its path.
    private func readRequest(_ socket: Int32) -> String? {
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while received.count < 1 << 20 {
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            received += buffer.prefix(count)
            let text = String(decoding: received, as: UTF8.self)
            guard let end = text.range(of: "\r\n\r\n") else { continue }
            let head = text[..<end.lowerBound]
            let length = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
            if text[end.upperBound...].utf8.count >= length ?? 0 {
                return head.split(separator: " ").dropFirst().first.map(String.init)
            }
        }
        return nil
    }
}
