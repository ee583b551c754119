internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The file of a Unix domain socket: one that a server left behind is taken away before, and our own afterwards.
final class SocketFile: Sendable {
    private struct Identity: Equatable {
        let device: UInt64
        let number: UInt64
    }

    private let path: String?
    private let own = Mutex<Identity?>(nil)

    /// - Parameter path: nil where there is none.
    init(path: String?) {
        self.path = path
    }

    /// Removes a socket on which nobody listens. Whatever else is there stays, and cannot be listened on.
    func makeWay() {
        guard let path, identity(of: path) != nil, !isAnswered(path) else { return }
        unlink(path)
    }

    /// Remembers the file as ours.
    func take() {
        guard let path else { return }
        let identity = identity(of: path)
        own.withLock { $0 = identity }
    }

    /// Removes the file if it is ours still.
    func remove() {
        let own = own.withLock { $0 }
        guard let path, let own, identity(of: path) == own else { return }
        unlink(path)
    }

    /// Nil when there is no socket.
    private func identity(of path: String) -> Identity? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        return Identity(device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino))
    }

    /// Whether somebody listens. A full backlog (`EAGAIN`) is that of somebody, too.
    private func isAnswered(_ path: String) -> Bool {
        #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return true }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let outcome = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return outcome == 0 || errno != ECONNREFUSED
    }
}
