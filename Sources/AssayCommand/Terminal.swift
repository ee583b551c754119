internal import AssayCore

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The lines that a command writes: results to standard output, messages to standard error.
public enum Terminal {
    /// Writes a line to standard output, at once.
    ///
    /// - Throws: ``OutputError`` when it cannot be written: a reader must not take missing lines for a complete result.
    public static func say(_ line: String) throws(OutputError) {
        try write(line, to: STDOUT_FILENO)
    }

    /// Writes a line to standard error; a failure to write is ignored.
    public static func note(_ line: String) {
        try? write(line, to: STDERR_FILENO)
    }

    /// Writes what went wrong to standard error, behind the program's name.
    public static func report(_ problem: String) {
        note("\(AssayProgram.current.name): \(problem)")
    }

    /// Writes an error to standard error, behind the program's name.
    ///
    /// An error may have words of another server in it: characters that control a terminal, or change the direction of a text, are
    /// escaped.
    public static func report(_ error: any Error) {
        let lines = "\(error)".split(separator: "\n", omittingEmptySubsequences: false)
        report(lines.map { isPlain($0) ? String($0) : LogField.words(String($0)) }.joined(separator: "\n"))
    }

    private static func isPlain(_ line: Substring) -> Bool {
        line.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control: scalar == "\t"
            case .format, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
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

/// Standard output cannot be written: a full disk, or a reader that has closed it.
public struct OutputError: Error, CustomStringConvertible {
    /// The system's message.
    public let description: String
}

// Inside the type above, the name means its own method.

private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, start, count)
}
