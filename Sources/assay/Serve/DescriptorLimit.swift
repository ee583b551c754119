#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// How many file descriptors the process may have, one of which each connection takes.
enum DescriptorLimit {
    /// What is kept for the state, the audit file, event loops and calls out.
    static let reserve = 64

    /// Raises the limit as far as is allowed without privileges. Returns what it is then.
    static func raise() -> Int {
        var limit = rlimit()
        guard getrlimit(openFiles, &limit) == 0 else { return 1024 }
        var raised = limit
        raised.rlim_cur = limit.rlim_max
        let isRaised = setrlimit(openFiles, &raised) == 0
        return Int(clamping: isRaised ? raised.rlim_cur : limit.rlim_cur)
    }

    /// How many connections may be open at once, so that the rest of the process still gets its descriptors.
    static func connections(wanted: Int, limit: Int) -> Int {
        min(wanted, max(limit - reserve, limit / 2, 1))
    }
}

// Glibc declares this as an enumeration, and takes an integer for it.

#if canImport(Glibc)
private let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
#else
private let openFiles = RLIMIT_NOFILE
#endif
