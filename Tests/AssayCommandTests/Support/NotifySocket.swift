import AssayTestSupport
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

/// A Unix datagram socket in the place of systemd's.
final class NotifySocket: Sendable {
    private let descriptor: Int32
    private let waiting = Mutex<[String]>([])

    /// - Parameter name: a path, or `@` and a name without a file.
    init(_ name: String) throws {
        #if canImport(Glibc)
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        #else
        descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #endif
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var bytes = Array(name.utf8)
        let isAbstract = bytes.first == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size - (isAbstract ? room - bytes.count : 0))
        let outcome = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard outcome == 0 else { throw RawSocket.Failure("bind") }
    }

    deinit { close(descriptor) }

    /// The messages that wait, the oldest first.
    func received() -> [String] {
        var messages: [String] = []
        var buffer = [UInt8](repeating: 0, count: 8192)
        while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 {
            messages.append(String(decoding: buffer.prefix(count), as: UTF8.self))
        }
        return messages
    }

    /// Waits for the next message that something holds for; those before it are dropped.
    func next(_ what: String, where isSo: (String) -> Bool) async throws -> String {
        try await patiently(what) {
            let new = received()
            return waiting.withLock { waiting in
                waiting += new
                guard let index = waiting.firstIndex(where: isSo) else { return nil }
                defer { waiting.removeSubrange(...index) }
                return waiting[index]
            }
        }
    }

    /// Waits for the next message that is no sign of life.
    func nextOther() async throws -> String {
        try await next("a message") { $0 != "WATCHDOG=1" }
    }
}

/// Makes a socket in the place of systemd's, with the name that `NOTIFY_SOCKET` would have.
func withTemporaryNotifySocket(isAbstract: Bool, _ body: (NotifySocket, String) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
        let name = isAbstract ? "@assay-test-\(UUID().uuidString)" : folder.appendingPathComponent("notify").path
        try await body(NotifySocket(name), name)
    }
}
