internal import AssayCore
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The sockets that systemd listens on for this process (sd_listen_fds(3)): file descriptors from 3 on, with names.
struct SystemdSockets {
    /// The reason why there is no such socket.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// The first descriptor (`SD_LISTEN_FDS_START`).
    static let first: Int32 = 3
    /// More than any unit has.
    private static let limit: Int32 = 1024

    /// The names in the order of the descriptors; `unknown` if systemd has none.
    let names: [String]

    /// - Parameters:
    ///   - environment: reads `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`.
    ///   - process: this process. The variables may be those of a parent process, left in the environment.
    init(environment: (String) -> String?, process: Int32) throws(Problem) {
        guard let count = environment("LISTEN_FDS").flatMap({ Int32($0) }),
            environment("LISTEN_PID").flatMap({ Int32($0) }) == process
        else { throw Problem(description: "systemd passed no socket to this process") }
        guard (1...SystemdSockets.limit).contains(count) else {
            throw Problem(description: "systemd passed \(count) sockets")
        }
        var names = (environment("LISTEN_FDNAMES") ?? "").split(onASCII: ":").map(String.init)
        names = names.prefix(Int(count)).map { $0.isEmpty ? "unknown" : $0 }
        names += Array(repeating: "unknown", count: Int(count) - names.count)
        self.names = names
    }

    /// The descriptor of the socket with a name, or of the only one.
    func descriptor(_ name: String?) throws(Problem) -> Int32 {
        let found = names.indices.filter { index in name.map { names[index].isExactly($0) } ?? true }
        guard found.count == 1, let index = found.first else {
            let list = names.joined(separator: ", ")
            throw Problem(
                description: found.isEmpty
                    ? "systemd passed no socket with that name, but: \(list)"
                    : "systemd passed several sockets, so one must be named: \(list)")
        }
        return SystemdSockets.first + Int32(index)
    }

    private static let taken = Mutex<Set<Int32>>([])

    /// Takes a socket of this process for one listener.
    static func take(_ name: String?) throws(Problem) -> Int32 {
        let sockets = try SystemdSockets(
            environment: { getenv($0).map { String(cString: $0) } }, process: getpid())
        let descriptor = try sockets.descriptor(name)
        guard isListening(descriptor) else {
            throw Problem(description: "the socket that systemd passed is not a listening stream socket (Accept=no)")
        }
        guard taken.withLock({ $0.insert(descriptor).inserted }) else {
            throw Problem(description: "another listener uses that socket of systemd")
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    /// Whether a descriptor is a stream socket that accepts connections.
    static func isListening(_ descriptor: Int32) -> Bool {
        #if canImport(Glibc)
        let stream = Int32(SOCK_STREAM.rawValue)
        #else
        let stream = SOCK_STREAM
        #endif
        return option(SO_TYPE, of: descriptor) == stream && option(SO_ACCEPTCONN, of: descriptor) == 1
    }

    private static func option(_ option: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 ? value : nil
    }
}
