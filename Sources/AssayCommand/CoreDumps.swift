#if canImport(Glibc)
internal import CProcess
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import CProcess
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Whether memory of this process may end up in a file when it crashes.
///
/// It has private keys and tokens in it.
enum CoreDumps {
    /// Forbids them, and on Linux also that other processes of the same user read or trace this one (prctl(2)).
    ///
    /// The limit is lowered, too, as far as it can be raised again: it holds for child processes, which the other does not.
    static func forbid() {
        var limit = rlimit()
        if read(&limit) {
            limit.rlim_cur = 0
            write(limit)
        }
        #if os(Linux)
        _ = assay_set_dumpable(0)
        #endif
    }

    /// Allows them, within the hard limit that the process was started with.
    static func allow() {
        var limit = rlimit()
        if read(&limit) {
            limit.rlim_cur = limit.rlim_max
            write(limit)
        }
        #if os(Linux)
        _ = assay_set_dumpable(1)
        #endif
    }

    #if canImport(Glibc)
    private static let resource = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    #else
    private static let resource = RLIMIT_CORE
    #endif

    private static func read(_ limit: inout rlimit) -> Bool { getrlimit(resource, &limit) == 0 }

    private static func write(_ limit: rlimit) {
        var limit = limit
        setrlimit(resource, &limit)
    }
}

/// Signals that a server listens to, before it does.
enum EarlySignals {
    /// Has those do nothing that would end the process: SIGHUP, SIGUSR1 and SIGUSR2.
    static func ignore() {
        for number in [SIGHUP, SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) }
    }
}
