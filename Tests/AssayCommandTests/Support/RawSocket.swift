#if canImport(Glibc)
import Glibc
import SwiftOverlayShims
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A TCP connection to a port of this machine, of which nothing blocks: ten thousand of them need no thread.
final class RawSocket {
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ call: String) { description = "\(call): \(String(cString: strerror(errno)))" }
        init(saying text: String) { description = text }
    }

    enum Received: Equatable {
        case bytes([UInt8])
        /// Nothing so far.
        case nothing
        /// The server has closed, or broken the connection off.
        case end
    }

    private let descriptor: Int32
    private var buffer: [UInt8] = []

    /// - Parameters:
    ///   - source: the last number of the address 127.0.0.x to connect from, so that ports do not run short.
    ///   - receiveBuffer: how many bytes the system takes that nobody reads.
    init(port: Int, from source: UInt8 = 1, receiveBuffer: Int32? = nil) throws {
        #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { throw Failure("socket") }
        guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
            throw Failure("fcntl")
        }
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        #if canImport(Glibc)
        if source != 1 {
            // Without it a port would be taken for this address alone, whatever it is connected to.
            var isLate: Int32 = 1
            setsockopt(descriptor, Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, &isLate, 4)
            guard Self.with(source, port: 0, { bind(descriptor, $0, $1) }) == 0 else { throw Failure("bind") }
        }
        #endif
        guard Self.with(1, port: port, { connect(descriptor, $0, $1) }) == 0 || errno == EINPROGRESS else {
            throw Failure("connect")
        }
    }

    deinit { close(descriptor) }

    /// Sends what the system takes.
    ///
    /// Returns how many bytes that were; nil when the connection has ended.
    func send(_ bytes: some Collection<UInt8>) -> Int? {
        let bytes = Array(bytes)
        #if canImport(Glibc)
        let count = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        #else
        let count = Darwin.send(descriptor, bytes, bytes.count, 0)
        #endif
        if count >= 0 { return count }
        return [EAGAIN, EWOULDBLOCK, ENOTCONN, EINPROGRESS].contains(errno) ? 0 : nil
    }

    func receive() -> Received {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count > 0 { return .bytes(Array(bytes.prefix(count))) }
        if count < 0, [EAGAIN, EWOULDBLOCK, ENOTCONN, EINPROGRESS].contains(errno) { return .nothing }
        return .end
    }

    /// Whether the server has closed, and sent nothing before.
    var hasEnded: Bool { receive() == .end }

    // MARK: - Waiting, a minute at most

    func sendAll(_ text: String) async throws {
        var rest = Array(text.utf8)[...]
        try await patiently("sending") {
            guard let count = send(rest) else { throw Failure(saying: "the server has closed before all was sent") }
            rest = rest.dropFirst(count)
            return rest.isEmpty ? () : nil
        }
    }

    /// The next reply; nil when the server closes without a byte of it.
    func reply(hasBody: Bool = true) async throws -> Reply? {
        var hasClosed = false
        return try await patiently("receiving") {
            switch receive() {
            case .bytes(let bytes): buffer += bytes
            case .nothing: break
            case .end: hasClosed = true
            }
            if let (reply, count) = Reply.parse(buffer, hasBody: hasBody) {
                buffer.removeFirst(count)
                return .some(reply)
            }
            guard hasClosed else { return nil }
            guard buffer.isEmpty else { throw Failure(saying: "the server has closed in the middle of a reply") }
            return .some(nil)
        }
    }

    func end() async throws {
        try await patiently("waiting for the end") { hasEnded ? () : nil }
    }

    private static func with<Result>(
        _ address: UInt8, port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = in_port_t(UInt16(clamping: port)).bigEndian
        name.sin_addr.s_addr = (0x7F00_0000 | UInt32(address)).bigEndian
        return withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}

/// Tries until there is a result: only to wait for ever would be wrong.
func patiently<Result>(
    _ what: String, seconds: Int = 120, isolation: isolated (any Actor)? = #isolation,
    _ attempt: () async throws -> Result?
) async throws -> Result {
    let start = ContinuousClock.now
    while true {
        if let result = try await attempt() { return result }
        guard ContinuousClock.now - start < .seconds(seconds) else {
            throw RawSocket.Failure(saying: "\(what) took longer than \(seconds) seconds")
        }
        try await Task.sleep(for: .milliseconds(2))
    }
}
