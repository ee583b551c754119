#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The Unix datagram socket that `NOTIFY_SOCKET` names, on which systemd takes messages.
///
/// It is opened once, so that a server without free file descriptors can still give signs of life.
final class SystemdSocket: Sendable {
    private static let attempts = 40
    private static let pause = Duration.milliseconds(50)

    private let descriptor: Int32
    private let name: [UInt8]

    /// - Parameter name: an absolute path, or `@` and a name without a file; nil when it is neither, or is too long.
    init?(_ name: String) {
        var bytes = Array(name.utf8)
        // The system's structure has room for 108 bytes, and a path ends with a zero byte.
        guard (2...107).contains(bytes.count) else { return nil }
        switch bytes.first {
        case UInt8(ascii: "/"): bytes.append(0)
        case UInt8(ascii: "@"): bytes[0] = 0
        default: return nil
        }
        #if canImport(Glibc)
        let kind = Int32(SOCK_DGRAM.rawValue)
        #else
        let kind = SOCK_DGRAM
        #endif
        descriptor = socket(AF_UNIX, kind, 0)
        self.name = bytes
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Sends a message; while systemd has no room for it, again and again for two seconds.
    ///
    /// - Returns: whether it was sent.
    func send(_ message: String) async -> Bool {
        let bytes = Array(message.utf8)
        for _ in 0..<Self.attempts {
            switch sendOnce(bytes) {
            case 0: return true
            case EAGAIN, EINTR, ENOBUFS: try? await Task.sleep(for: Self.pause)
            default: return false
            }
        }
        return false
    }

    /// The error of one attempt; 0 for none.
    private func sendOnce(_ message: [UInt8]) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard name.count <= room else { return ENAMETOOLONG }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // A name without a file ends where the length says.
        let length = socklen_t(MemoryLayout<sockaddr_un>.size - room + name.count)
        let sent = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, message, message.count, 0, $0, length)
            }
        }
        return sent < 0 ? errno : 0
    }
}
