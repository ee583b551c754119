internal import NIOCore

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The file of a Unix domain socket.
package enum SocketFile {
    /// A socket that is bound to its file, but does not listen yet.
    package struct Bound: Sendable {
        package let descriptor: Int32
        private let path: String
        private let identity: (device: UInt64, number: UInt64)?

        fileprivate init(descriptor: Int32, path: String) {
            self.descriptor = descriptor
            self.path = path
            identity = SocketFile.status(path).map {
                (UInt64(truncatingIfNeeded: $0.st_dev), UInt64(truncatingIfNeeded: $0.st_ino))
            }
        }

        /// Removes the file, unless another has replaced it.
        package func removeFile() {
            guard let status = SocketFile.status(path), let identity,
                UInt64(truncatingIfNeeded: status.st_dev) == identity.device,
                UInt64(truncatingIfNeeded: status.st_ino) == identity.number
            else { return }
            unlink(path)
        }
    }

    /// Makes a socket whose file has the given permissions.
    ///
    /// No client can connect before the file has them, since the socket does not listen yet.
    ///
    /// - Parameter mode: the permissions of the file; the process's file mode creation mask has no effect.
    /// - Throws: `IOError` when the file exists already or cannot be made.
    package static func bind(_ path: String, mode: UInt16) throws -> Bound {
        guard var address = address(path) else { throw IOError(errnoCode: ENAMETOOLONG, reason: "bind") }
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
        do {
            try check(fcntl(descriptor, F_SETFD, FD_CLOEXEC), "fcntl")
            // On Linux, the socket's own mode limits that of the file.
            _ = fchmod(descriptor, mode_t(mode))
            try check(
                withSocketAddress(&address) { bindSocket(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) },
                "bind")
            let bound = Bound(descriptor: descriptor, path: path)
            do {
                try check(chmod(path, mode_t(mode)), "chmod")
            } catch {
                bound.removeFile()
                throw error
            }
            return bound
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Removes the file of a server that ended without removing it.
    ///
    /// All other files stay, and cannot be listened on.
    package static func makeWay(_ path: String) {
        guard let status = status(path), status.st_mode & S_IFMT == S_IFSOCK, !isAnswered(path) else { return }
        unlink(path)
    }

    /// Whether a server listens, as far as can be found out.
    private static func isAnswered(_ path: String) -> Bool {
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        // A full backlog belongs to a server, so it is not waited for.
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        guard var address = address(path) else { return true }
        let outcome = withSocketAddress(&address) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        return outcome == 0 || errno != ECONNREFUSED
    }

    private static var kind: Int32 {
        #if canImport(Glibc)
        Int32(SOCK_STREAM.rawValue)
        #else
        SOCK_STREAM
        #endif
    }

    fileprivate static func status(_ path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 ? status : nil
    }

    /// Nil when the path is longer than the system allows.
    private static func address(_ path: String) -> sockaddr_un? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return address
    }

    private static func withSocketAddress(
        _ address: inout sockaddr_un, _ body: (UnsafePointer<sockaddr>) -> Int32
    ) -> Int32 {
        withUnsafePointer(to: &address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
    }

    private static func check(_ outcome: Int32, _ function: String) throws {
        guard outcome >= 0 else { throw IOError(errnoCode: errno, reason: function) }
    }
}

// Inside the type above, the name means its own method.
private func bindSocket(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    bind(descriptor, address, length)
}
