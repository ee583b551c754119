internal import AssayCore

/// An audit file with its index.
///
/// It has a single owner, and so needs no lock.
final class IndexedFile {
    /// What becomes of an index that is made.
    enum Keeping {
        case save
        case memory
    }

    let path: String
    private let status: FileStatus
    /// The file; nil when it is opened again for each block, because there are many files.
    private var reader: AuditReader?
    private(set) var index: AuditIndex
    /// How many bytes had to be read because no index was about them.
    private(set) var bytesRead = 0
    /// Why the index could not be written; nil when it could, or need not be.
    private(set) var savingFailure: String?

    /// What must be new, before the index is written again.
    private static let savingSize = 4 << 20

    /// Opens a file and its index, and makes the index, or what is missing of it.
    ///
    /// - `limit`: how much may be read for that.
    /// - Throws: ``AuditFileError``; ``BudgetSpent``.
    init(_ path: String, keeping: Keeping, limit: Int = .max) throws {
        self.path = path
        let reader = try AuditReader(path)
        status = reader.status
        self.reader = reader
        if let stored = AuditIndex.load(for: path), try stored.fits(reader.file, status) {
            index = stored
        } else {
            index = AuditIndex(of: status)
        }
        let begin = index.stamp.covered
        guard status.size - begin <= limit else { throw BudgetSpent() }
        if reader.isCompressed { try addMembers(reader) } else { try addBlocks(reader) }
        if keeping == .save, index.stamp.covered - begin >= (begin == 0 ? 1 : IndexedFile.savingSize) {
            do {
                try index.seal(reader.file, status)
                try index.save(for: path)
            } catch {
                savingFailure = "\(error)"
            }
        }
        if !reader.isCompressed { try addTail(reader) }
    }

    /// The blocks of a file that is not compressed: whole ones only, the rest is for ``addTail(_:)``.
    private func addBlocks(_ reader: AuditReader) throws(AuditFileError) {
        var offset = index.stamp.covered
        while true {
            let bytes = try reader.file.read(
                at: offset, count: min(2 * GZipBlocks.blockSize, reader.status.size - offset))
            let from = GZipBlocks.blockSize - 1
            guard bytes.count >= from, let end = LineSplitter.newline(in: bytes, from: from) else {
                // A line that is longer than any of the server's: a block that nothing is found in.
                guard bytes.count == 2 * GZipBlocks.blockSize, reader.status.size - offset > LineSplitter.lengthLimit
                else {
                    return
                }
                index.add(BlockSketch(), offset: offset, length: bytes.count)
                offset += bytes.count
                continue
            }
            index.add(IndexedFile.sketch(bytes[...end]), offset: offset, length: end + 1)
            offset += end + 1
            bytesRead += end + 1
        }
    }

    private func addTail(_ reader: AuditReader) throws(AuditFileError) {
        let offset = index.stamp.covered
        let rest = min(reader.status.size - offset, 2 * LineSplitter.lengthLimit)
        let bytes = try reader.file.read(at: offset, count: rest)
        guard let end = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return }
        index.add(IndexedFile.sketch(bytes[...end]), offset: offset, length: end + 1)
        bytesRead += end + 1
    }

    private static func sketch(_ bytes: ArraySlice<UInt8>) -> BlockSketch {
        var sketch = BlockSketch()
        for line in bytes.split(separator: UInt8(ascii: "\n")) { sketch.add(line) }
        return sketch
    }

    /// The blocks of a compressed file: members of gzip, as many as end with a line.
    private func addMembers(_ reader: AuditReader) throws {
        guard index.stamp.covered < reader.status.size else { return }
        var start = index.stamp.covered
        reader.seek(to: start)
        var sketch = BlockSketch()
        var splitter = LineSplitter()
        var last: UInt8?
        while let chunk = try reader.next() {
            bytesRead += chunk.bytes.count
            splitter.add(chunk.bytes) { if !$0.isTooLong, !$0.bytes.isEmpty { sketch.add($0.bytes) } }
            last = chunk.bytes.last ?? last
            guard chunk.endsMember, last == UInt8(ascii: "\n") else { continue }
            index.add(sketch, offset: start, length: reader.position - start)
            (start, sketch, splitter) = (reader.position, BlockSketch(), LineSplitter())
        }
        splitter.finish { if !$0.isTooLong { sketch.add($0.bytes) } }
        if start < reader.status.size { index.add(sketch, offset: start, length: reader.status.size - start) }
    }

    /// Frees the index, and closes the file unless it is kept open for its blocks.
    func rest(keepingOpen isKept: Bool) {
        index = AuditIndex(of: status)
        if !isKept { reader = nil }
    }

    /// Passes the lines of a block on.
    ///
    /// - `limit`: how many bytes they may have.
    /// - Returns: how many bytes they have.
    /// - Throws: ``StaleIndex`` when they are not those that the index was made of; ``BudgetSpent``.
    func lines(
        of block: AuditIndex.Block, limit: Int, _ body: (ArraySlice<UInt8>) throws -> Void
    ) throws -> Int {
        var sum = CheckSum()
        var count = 0
        func take(_ line: ArraySlice<UInt8>) throws {
            sum.add(line)
            try body(line)
        }
        let open = try reader ?? AuditReader(path)
        if open.isCompressed {
            let reader = try AuditReader(path)
            reader.seek(to: block.offset)
            var splitter = LineSplitter()
            while reader.position < block.offset + block.length || !reader.isBetweenMembers,
                let chunk = try reader.next()
            {
                count += chunk.bytes.count
                guard count <= limit else { throw BudgetSpent() }
                try splitter.add(chunk.bytes) { if !$0.isTooLong, !$0.bytes.isEmpty { try take($0.bytes) } }
            }
            try splitter.finish { if !$0.isTooLong { try take($0.bytes) } }
        } else {
            let bytes = try open.file.read(at: block.offset, count: block.length)
            count = bytes.count
            for line in bytes.split(separator: UInt8(ascii: "\n")) { try take(line) }
        }
        guard sum.value == block.sum else { throw StaleIndex() }
        return count
    }
}

/// The index is not about the file as it is.
struct StaleIndex: Error {}

/// A look-up would have to read more than it may.
struct BudgetSpent: Error {}
