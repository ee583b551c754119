#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// What a person sees.
enum Terminal {
    /// Writes a line to standard output, at once.
    ///
    /// - Throws: when it cannot be written: otherwise a reader would think that the missing lines do not exist.
    static func say(_ line: String) throws(OutputError) {
        try write(line, to: STDOUT_FILENO)
    }

    /// Writes a line to standard error; if that is closed, the failure cannot be reported.
    static func complain(_ line: String) {
        try? write(line, to: STDERR_FILENO)
    }

    private static func write(_ line: String, to descriptor: Int32) throws(OutputError) {
        var rest = Array((line + "\n").utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { writeBytes(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw OutputError(description: String(cString: strerror(errno))) }
            rest = rest.dropFirst(count)
        }
    }
}

/// Why standard output cannot be written: a full disk, a reader that has gone.
struct OutputError: Error, CustomStringConvertible {
    let description: String
}

// Within the type above the name is that of its own method.

private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, start, count)
}
