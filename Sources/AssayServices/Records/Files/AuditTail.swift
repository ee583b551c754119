package import AssayCore

/// The end of an audit file: what a chain continues with.
package struct AuditTail: Sendable {
    /// What the file ends with.
    package enum Ending: Sendable, Equatable {
        /// Nothing: the file is empty.
        case empty
        /// A line of a chain, and what is after it: a line that a crash has cut off.
        case chain(AuditChain.Head, torn: [UInt8])
        /// Lines of no chain.
        case otherLines
    }

    package let ending: Ending
    /// Whether the last line lacks its end.
    package let lacksNewline: Bool
    /// The time of the first line; nil when it has none.
    package let begin: Instant?

    /// How much of the end is read.
    private static let limit = 1 << 20

    /// Reads the end of a file that is not compressed.
    ///
    /// - Throws: ``AuditFileError``.
    package init(_ path: String) throws(AuditFileError) {
        let file = try FileBytes(path)
        let size = file.status?.size ?? 0
        let start = max(0, size - AuditTail.limit)
        let bytes = try file.read(at: start, count: size - start)
        self.init(bytes, isWhole: start == 0)
        let head = try file.read(at: 0, count: 65_536)
        self = AuditTail(
            ending: ending, lacksNewline: lacksNewline,
            begin: RecordFields(head.prefix { $0 != UInt8(ascii: "\n") })?.instant)
    }

    /// Reads the end of a rotated file, compressed or not.
    package init(of rotated: RotatedFile) throws {
        guard rotated.isCompressed else {
            self = try AuditTail(rotated.path)
            return
        }
        var end: [UInt8] = []
        let reader = try AuditReader(rotated.path)
        var isWhole = true
        while let chunk = try reader.next() {
            end += chunk.bytes
            if end.count > 2 * AuditTail.limit {
                end.removeFirst(end.count - AuditTail.limit)
                isWhole = false
            }
        }
        self.init(end, isWhole: isWhole)
    }

    private init(ending: Ending, lacksNewline: Bool, begin: Instant?) {
        self.ending = ending
        self.lacksNewline = lacksNewline
        self.begin = begin
    }

    /// - Parameter isWhole: whether the bytes are all of the file, so that a line begins with the first one.
    private init(_ bytes: [UInt8], isWhole: Bool) {
        var ending = bytes.isEmpty ? Ending.empty : .otherLines
        var end = bytes.lastIndex(of: UInt8(ascii: "\n"))
        // A last line of which only the end is missing is whole.
        if end != nil || isWhole, let line = AuditChain.Line(bytes[((end ?? -1) + 1)...]) {
            self.init(ending: .chain(line.head, torn: []), lacksNewline: true, begin: nil)
            return
        }
        while let found = end {
            let start = bytes[..<found].lastIndex(of: UInt8(ascii: "\n"))
            guard start != nil || isWhole else { break }
            if let line = AuditChain.Line(bytes[(start ?? -1) + 1..<found]) {
                var torn = Array(bytes[(found + 1)...])
                if let last = torn.last, last != UInt8(ascii: "\n") { torn.append(UInt8(ascii: "\n")) }
                ending = .chain(line.head, torn: torn)
                break
            }
            end = start
        }
        self.init(
            ending: ending, lacksNewline: bytes.last.map { $0 != UInt8(ascii: "\n") } ?? false, begin: nil)
    }
}
