internal import AssayCore
internal import AssayServices

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A file with records that an operator names: an audit file, plain or compressed with gzip, or standard input.
struct RecordFile {
    private let name: String

    /// - Parameter name: a file's name; `-` is standard input.
    init(_ name: String) {
        self.name = name
    }

    /// Gives each line that is not empty, without its end, and its number; nil for one that is too long.
    ///
    /// - Throws: `AuditFileError` when the file cannot be read to its end, with the lines before given.
    func forEachLine(_ body: (ArraySlice<UInt8>?, Int) -> Void) throws(AuditFileError) {
        func give(_ line: LineSplitter.Line) {
            if line.isTooLong { return body(nil, line.number) }
            let bytes = line.bytes.last == UInt8(ascii: "\r") ? line.bytes.dropLast() : line.bytes
            if !bytes.isEmpty { body(bytes, line.number) }
        }
        if name.isExactly("-") {
            try AuditStream.lines(of: STDIN_FILENO, name: "standard input", give)
        } else {
            let reader = try AuditReader(name)
            do {
                try reader.lines(give)
            } catch {
                throw error as? AuditFileError ?? AuditFileError("\(name): \(error)")
            }
        }
    }
}
