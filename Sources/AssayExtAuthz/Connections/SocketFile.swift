#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The file of a Unix domain socket.
enum SocketFile {
    /// Removes one on which nobody listens, because its server ended without doing so. Whatever else is there stays, and
    /// cannot be listened on.
    static func makeWay(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK, !isAnswered(path) else { return }
        unlink(path)
    }

    /// Whether somebody listens, as far as can be told.
    private static func isAnswered(_ path: String) -> Bool {
        #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        // A full backlog is that of somebody, and not waited for.
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
