internal import AssayHTTPServer

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// What the system would limit a server to, or end it for, because it cannot know that it is one.
enum ProcessLimits {
    static func prepare() {
        OpenFileLimit.raise()
        // A file that may not grow any further (`ulimit -f`) is an error like that of a full disk, not an end.
        signal(SIGXFSZ, SIG_IGN)
    }
}
