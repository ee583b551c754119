internal import Synchronization

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Where log lines go: a file descriptor that is written one whole line after the other.
final class LogOutput: Sendable {
    static let standardError = LogOutput(STDERR_FILENO)

    private let descriptor: Mutex<Int32>

    init(_ descriptor: Int32) {
        self.descriptor = Mutex(descriptor)
    }

    /// Writes a line; a failure cannot be reported anywhere.
    func write(_ line: [UInt8]) {
        // Held while it is written, so that no other thread's line gets in between.
        descriptor.withLock { descriptor in
            var rest = line[...]
            var patience = 100
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { writeBytes(descriptor, $0.baseAddress, $0.count) }
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if count < 0, errno == EAGAIN, patience > 0 {
                    // Another process made the descriptor non-blocking, and its reader is slow.
                    patience -= 1
                    var readiness = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&readiness, 1, 10)
                } else if count == 0 || errno != EINTR {
                    return
                }
            }
        }
    }
}

// Inside the type above, the name means its own method.

private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, start, count)
}
