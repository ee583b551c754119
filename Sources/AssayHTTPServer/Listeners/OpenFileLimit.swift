#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// How many files and sockets this process may have open (`RLIMIT_NOFILE`).
package enum OpenFileLimit {
    /// The number of files for other uses than connections: the state's files, logs, outgoing calls.
    private static let reserve = 128

    /// The limit in force; nil when there is none.
    package static var current: Int? {
        var limit = rlimit()
        guard read(&limit), limit.rlim_cur != unlimited else { return nil }
        return Int(clamping: limit.rlim_cur)
    }

    /// The most connections next to other open files; half of the limit if it is small.
    package static var connections: Int {
        guard let current else { return .max }
        return max(1, current - min(reserve, current / 2))
    }

    /// Raises the limit in force to the highest value that this process may set.
    ///
    /// The limit of a login shell or systemd, 1024, is meant for programs that call `select(2)`.
    package static func raise() {
        var limit = rlimit()
        guard read(&limit), limit.rlim_cur != limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        #if canImport(Darwin)
        limit.rlim_cur = min(limit.rlim_cur, rlim_t(OPEN_MAX))
        #endif
        _ = write(&limit)
    }

    // RLIM_INFINITY, which Swift does not read from the headers.
    #if canImport(Darwin)
    private static let unlimited = rlim_t(Int64.max)
    #else
    private static let unlimited = rlim_t.max
    #endif

    // Glibc declares the name of the limit as an enumeration.
    #if canImport(Glibc)
    private static func read(_ limit: inout rlimit) -> Bool {
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    }
    private static func write(_ limit: inout rlimit) -> Bool {
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    }
    #else
    private static func read(_ limit: inout rlimit) -> Bool { getrlimit(RLIMIT_NOFILE, &limit) == 0 }
    private static func write(_ limit: inout rlimit) -> Bool { setrlimit(RLIMIT_NOFILE, &limit) == 0 }
    #endif
}
