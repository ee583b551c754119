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
    /// Why the file cannot be read to its end; nil when it can.
    ///
    /// What is before that place is indexed and found.
    private(set) var damage: String?
    /// Whether a line has the record of a decision, or a sum of such.
    private(set) var hasDecisions = false
    private let keeping: Keeping
    /// How much of the file the stored index is about.
    private var kept: Int

    /// What must be new, before the index is written again.
    private static let savingSize = 4 << 20
    /// What must be new, before the index is written while it is made: an interruption loses no more than that or a fifth.
    private static let interimSize = 16 << 20

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
        self.keeping = keeping
        kept = index.stamp.covered
        let begin = index.stamp.covered
        guard status.size - begin <= limit else { throw BudgetSpent() }
        let rest = try reader.isCompressed ? addMembers(reader) : addBlocks(reader)
        keep(reader, ifNew: begin > 0 && kept == begin ? IndexedFile.savingSize : 1)
        // The end of a file that grows, and what is before damage, is not in the stored index: it is looked at each time.
        if let rest { index.add(rest.sketch, offset: index.stamp.covered, length: rest.length) }
        hasDecisions = !index.hours.isEmpty
    }

    /// Stores the index, if enough of it is new.
    private func keep(_ reader: AuditReader, ifNew size: Int) {
        guard keeping == .save, savingFailure.isNil, index.stamp.covered - kept >= size else { return }
        do {
            try index.seal(reader.file, status)
            try index.save(for: path)
            kept = index.stamp.covered
        } catch {
            savingFailure = "\(error)"
        }
    }

    private var interimSize: Int { max(IndexedFile.interimSize, kept / 4) }

    /// A block that is not in the stored index.
    private struct Rest {
        let sketch: BlockSketch
        let length: Int
    }

    /// The blocks of a file that is not compressed: whole ones, and the rest.
    private func addBlocks(_ reader: AuditReader) throws(AuditFileError) -> Rest? {
        var offset = index.stamp.covered
        var size = 2 * GZipBlocks.blockSize
        while true {
            let bytes = try reader.file.read(at: offset, count: min(size, reader.status.size - offset))
            let from = GZipBlocks.blockSize - 1
            guard bytes.count >= from, let end = LineSplitter.newline(in: bytes, from: from) else {
                guard bytes.count == size else { return try tail(reader) }
                if size < 2 * LineSplitter.lengthLimit {
                    size *= 2
                    continue
                }
                // A line that is longer than any of the server's: a block that nothing is found in.
                index.add(BlockSketch(), offset: offset, length: bytes.count)
                offset += bytes.count
                bytesRead += bytes.count
                continue
            }
            size = 2 * GZipBlocks.blockSize
            index.add(IndexedFile.sketch(bytes, to: end), offset: offset, length: end + 1)
            offset += end + 1
            bytesRead += end + 1
            keep(reader, ifNew: interimSize)
        }
    }

    private func tail(_ reader: AuditReader) throws(AuditFileError) -> Rest? {
        let offset = index.stamp.covered
        let rest = min(reader.status.size - offset, 2 * LineSplitter.lengthLimit)
        let bytes = try reader.file.read(at: offset, count: rest)
        guard let end = bytes.lastIndex(of: ByteSearch.newline) else { return nil }
        bytesRead += end + 1
        return Rest(sketch: IndexedFile.sketch(bytes, to: end), length: end + 1)
    }

    private static func sketch(_ bytes: [UInt8], to end: Int) -> BlockSketch {
        var sketch = BlockSketch()
        ByteSearch.lines(in: bytes, to: end) { sketch.add($0) }
        return sketch
    }

    /// The blocks of a compressed file: members of gzip, as many as end with a line; and what is before damage.
    private func addMembers(_ reader: AuditReader) throws(AuditFileError) -> Rest? {
        guard index.stamp.covered < reader.status.size else { return nil }
        var start = index.stamp.covered
        reader.seek(to: start)
        var sketch = BlockSketch()
        var splitter = LineSplitter()
        var last: UInt8?
        while let chunk = readOn(reader) {
            bytesRead += chunk.bytes.count
            splitter.add(chunk.bytes) { if !$0.isTooLong, !$0.bytes.isEmpty { sketch.add($0.bytes) } }
            last = chunk.bytes.last ?? last
            guard chunk.endsMember, last == UInt8(ascii: "\n") else { continue }
            index.add(sketch, offset: start, length: reader.position - start)
            (start, sketch, splitter) = (reader.position, BlockSketch(), LineSplitter())
            keep(reader, ifNew: interimSize)
        }
        if !damage.isNil { return Rest(sketch: sketch, length: reader.status.size - start) }
        splitter.finish { if !$0.isTooLong { sketch.add($0.bytes) } }
        if start < reader.status.size { index.add(sketch, offset: start, length: reader.status.size - start) }
        return nil
    }

    /// The next bytes of a compressed file; nil at its end, and where it is damaged.
    private func readOn(_ reader: AuditReader) -> AuditReader.Chunk? {
        do throws(AuditFileError) {
            return try reader.next()
        } catch {
            damage = error.message
            return nil
        }
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
                let chunk = damage.isNil ? try reader.next() : readOn(reader)
            {
                count += chunk.bytes.count
                guard count <= limit else { throw BudgetSpent() }
                try splitter.add(chunk.bytes) { if !$0.isTooLong, !$0.bytes.isEmpty { try take($0.bytes) } }
            }
            if damage.isNil { try splitter.finish { if !$0.isTooLong { try take($0.bytes) } } }
        } else {
            let bytes = try open.file.read(at: block.offset, count: block.length)
            count = bytes.count
            try ByteSearch.lines(in: bytes, to: bytes.count, take)
        }
        guard sum.value == block.sum else { throw StaleIndex() }
        return count
    }
}

/// The index is not about the file as it is.
struct StaleIndex: Error {}

/// A look-up would have to read more than it may.
struct BudgetSpent: Error {}
