internal import AssayCore

/// Reads an audit file from its beginning, compressed or not, with bounded memory.
package final class AuditReader {
    /// Bytes of a file as they were before compression.
    struct Chunk {
        let bytes: [UInt8]
        /// Where the member of gzip begins that they are from, in the file; for a file that is not compressed, where they are.
        let origin: Int
        /// Whether the member ends with them.
        let endsMember: Bool
    }

    package let path: String
    let file: FileBytes
    /// The file's state when it was opened; nothing beyond its size is read.
    package let status: FileStatus
    package let isCompressed: Bool
    private let inflater: Inflater?
    private var offset = 0
    private var memberStart = 0

    private static let pieceSize = 262_144

    /// Opens a file; it is compressed if it begins like gzip.
    ///
    /// - Throws: ``AuditFileError`` when it cannot be opened, or is no regular file.
    package init(_ path: String) throws(AuditFileError) {
        self.path = path
        file = try FileBytes(path)
        guard let status = file.status, status.isRegular else {
            throw AuditFileError("\(path) is not a regular file")
        }
        self.status = status
        isCompressed = try file.read(at: 0, count: 2) == Inflater.magic
        inflater = isCompressed ? try Inflater() : nil
    }

    /// Where the next byte is that was not used yet.
    var position: Int { offset - (inflater?.unread ?? 0) }

    /// Whether all of a member was read.
    var isBetweenMembers: Bool { !(inflater?.isWithinMember ?? false) }

    /// Goes to the offset of a line, or of a member of gzip.
    func seek(to offset: Int) {
        self.offset = offset
        memberStart = offset
    }

    /// The next bytes; nil at the end of the file.
    ///
    /// - Throws: ``AuditFileError`` for a file that cannot be read, and for gzip that is damaged, cut off, or expands to too
    ///   much.
    func next() throws(AuditFileError) -> Chunk? {
        guard let inflater else {
            let bytes = try file.read(at: offset, count: min(AuditReader.pieceSize, status.size - offset))
            guard !bytes.isEmpty else { return nil }
            defer { offset += bytes.count }
            return Chunk(bytes: bytes, origin: offset, endsMember: false)
        }
        while true {
            switch try step(inflater) {
            case .starved:
                let bytes = try file.read(at: offset, count: min(AuditReader.pieceSize, status.size - offset))
                guard !bytes.isEmpty else {
                    if inflater.isWithinMember { throw AuditFileError("\(path): the gzip data is cut off") }
                    return nil
                }
                offset += bytes.count
                inflater.feed(bytes)
            case .bytes(let bytes, let endsMember):
                defer { if endsMember { memberStart = position } }
                return Chunk(bytes: bytes, origin: memberStart, endsMember: endsMember)
            }
        }
    }

    private func step(_ inflater: Inflater) throws(AuditFileError) -> Inflater.Step {
        do throws(AuditFileError) {
            return try inflater.next()
        } catch {
            throw AuditFileError("\(path): \(error.message)")
        }
    }

    /// Passes each line on, in order.
    ///
    /// - Throws: what `body` throws; ``AuditFileError`` with the lines before the place passed on.
    package func lines(_ body: (LineSplitter.Line) throws -> Void) throws {
        var splitter = LineSplitter()
        while let chunk = try next() { try splitter.add(chunk.bytes, body) }
        try splitter.finish(body)
    }
}
