internal import AssayCore
internal import Logging

/// What another program did to an open audit file.
enum AuditInterruption: String, Sendable, CaseIterable {
    /// Its last name was removed, with the records in it.
    case removed
    /// It is shorter than what was written.
    case truncated
    /// The file under its path has other records than those that the chain continues from.
    case replaced
    /// It has no longer its path, which another file may have.
    case renamed
}

/// The file that an audit file's writer writes, its chain, and its rotation.
///
/// Only the writer uses it.
struct AuditTrail {
    /// A line that is being written.
    private struct Flight {
        let bytes: [UInt8]
        /// How many of them are not of the line: the end of a line that was torn.
        let prefix: Int
        var written = 0
        let head: AuditChain.Head
    }

    enum Writing {
        case whole
        /// Another program did something to the file, which comes on record before the line: see ``takeInterruption()``.
        case interrupted
        case failed(String)
    }

    let path: String
    private let rotation: AuditRotation
    let keeper: AuditKeeper
    private let logger: Logger
    private let clock: HostClock
    private let randomness: Randomness

    private(set) var file: AuditDescriptor
    /// The last line that was written; nil until there is one.
    private(set) var head: AuditChain.Head?
    /// What the file has after the last line of the chain.
    private var torn: [UInt8] = []
    private var lacksNewline = false
    /// What the first line of a new chain says about what was before.
    private var startsAfter: String?
    /// The time of the file's first line.
    private var begin: Instant?
    private var size = 0
    private var flight: Flight?
    /// Whether the file was renamed, and no new one could be opened yet.
    private var awaitsFile = false
    /// What another program did to the file, until it is on record.
    private var interruption: AuditInterruption?
    /// How many looks in a row found another file under the path, or none.
    private var renamedLooks = 0
    /// When rotation may be tried again after it failed.
    private var nextRotation: Instant?

    private static let rotationPause = Duration.seconds(60)

    /// Opens the file, and finds out what its chain continues with.
    init(
        _ path: String, rotation: AuditRotation, logger: Logger, clock: HostClock, randomness: Randomness
    ) throws(AuditError) {
        self.path = path
        self.rotation = rotation
        self.logger = logger
        self.clock = clock
        self.randomness = randomness
        keeper = AuditKeeper(path, rotation, logger)
        let isThere = FileStatus(path: path) != nil
        file = try AuditDescriptor(path)
        if file.file != nil {
            if !takeEnd(), head == nil, startsAfter.isNil { takeEndOfRotated() }
            if !isThere { warnOfMissingFile() }
        }
    }

    // MARK: - Writing

    /// Writes a line of JSON without its end, sealed; the same line again after a failure.
    mutating func write(_ line: [UInt8]) -> Writing {
        if awaitsFile, let failure = openAfterRotation() { return .failed(failure) }
        if let failure = repair() { return .failed(failure) }
        if interruption != nil { return .interrupted }
        var flight = self.flight ?? seal(line)
        if flight.written == 0, rotateIfDue(for: flight.bytes.count) { flight = seal(line) }
        switch file.write(flight.bytes[flight.written...]) {
        case .failed(let count, let words):
            flight.written += count
            self.flight = flight
            return .failed(words)
        case .whole:
            flight.written = flight.bytes.count
            self.flight = flight
            // Checked after the write, so that a record counts as written only in a file that can be read.
            if let failure = repair() { return .failed(failure) }
            if self.flight == nil { return .interrupted }
            accept(flight)
            return .whole
        }
    }

    private func seal(_ line: [UInt8]) -> Flight {
        var bytes = lacksNewline ? [UInt8(ascii: "\n")] : []
        let prefix = bytes.count
        var head = head
        if head == nil {
            let start = AuditChain.start(now: clock.now, randomness: randomness, after: startsAfter)
            bytes += start.line + [UInt8(ascii: "\n")]
            head = start.head
        }
        let sealed = AuditChain.seal(line[...], after: head, torn: self.head == nil ? [] : torn)
        return Flight(bytes: bytes + sealed.line + [UInt8(ascii: "\n")], prefix: prefix, head: sealed.head)
    }

    private mutating func accept(_ flight: Flight) {
        head = flight.head
        size += flight.bytes.count
        if begin == nil { begin = clock.now }
        torn = []
        lacksNewline = false
        startsAfter = nil
        self.flight = nil
    }

    /// Gives up a line of which a part may be written.
    mutating func abandon() {
        guard let flight else { return }
        self.flight = nil
        guard flight.written > flight.prefix else {
            if flight.written > 0 { lacksNewline = false }
            size += flight.written
            return
        }
        if flight.written >= flight.bytes.count - 1 {
            accept(flight)
            lacksNewline = flight.written < flight.bytes.count
            if lacksNewline { size -= 1 }
            return
        }
        size += flight.written
        if head == nil {
            // The chain did not begin; the next one does, after what is there.
            startsAfter = AuditChain.afterOtherLines
            lacksNewline = flight.bytes[flight.written - 1] != UInt8(ascii: "\n")
        } else {
            torn += flight.bytes[flight.prefix..<flight.written] + [UInt8(ascii: "\n")]
            lacksNewline = true
        }
    }

    // MARK: - Other files

    /// Continues in another file, which was opened under the same path.
    mutating func go(to other: AuditDescriptor) {
        abandon()
        file = other
        lacksNewline = false
        begin = nil
        size = 0
        awaitsFile = false
        renamedLooks = 0
        if file.file != nil, !join() { interrupt(.replaced) }
    }

    /// Looks after the file while no record comes; returns the reason when it cannot be written.
    mutating func look() -> String? {
        if awaitsFile { return openAfterRotation() }
        if let failure = repair() { return failure }
        renamedLooks = file.isRenamed(from: path) ? renamedLooks + 1 : 0
        // Log rotation renames the file, and has it opened again a moment later.
        if renamedLooks == 2 { interrupt(.renamed) }
        return nil
    }

    /// What another program did to the file since the last time that this was asked.
    mutating func takeInterruption() -> AuditInterruption? {
        defer { interruption = nil }
        return interruption
    }

    /// Continues after the file was removed or truncated, if it was; returns the reason when that fails.
    private mutating func repair() -> String? {
        switch file.damage(expecting: size + (flight?.written ?? 0)) {
        case .removed: return replaceRemoved()
        case .truncated: goOnAfterTruncation()
        case .renamed, .replaced, nil: break
        }
        return nil
    }

    /// Continues at the new end of the file: the chain does too, so that what is missing is found.
    private mutating func goOnAfterTruncation() {
        // A line in flight is written again.
        (flight, torn, size) = (nil, [], file.size)
        if size == 0 { begin = nil }
        lacksNewline = size > 0 && (file.isRenamed(from: path) || (try? AuditTail(path))?.lacksNewline ?? true)
        interrupt(.truncated)
    }

    private mutating func interrupt(_ interruption: AuditInterruption) {
        self.interruption = interruption
        let metadata = metadata
        switch interruption {
        case .removed:
            logger.error(
                "the audit file was removed, with the records in it; new records go to a new file",
                metadata: ["file": "\(path)"])
        case .truncated:
            logger.error(
                "the audit file was truncated, and the records that it had are lost; the chain continues in it",
                metadata: metadata)
        case .replaced:
            logger.error(
                "the audit file was replaced by another one with records; the chain continues after them",
                metadata: metadata)
        case .renamed:
            logger.warning(
                "the audit file was renamed, or another file has its name; records go to the renamed file until SIGHUP",
                metadata: metadata)
        }
    }

    /// Opens a new file under the path of one that was removed; returns the reason when that fails.
    private mutating func replaceRemoved() -> String? {
        do {
            let other = try AuditDescriptor(path)
            // The line is written again, and what was torn is gone with the file.
            (flight, torn, lacksNewline, begin, size) = (nil, [], false, nil, 0)
            file = other
            interrupt(join() ? .removed : .replaced)
            return nil
        } catch {
            return "the file was removed; \(error.message)"
        }
    }

    /// Continues in a file that was opened while a chain is being written: with this chain, so that a file that another program put in
    /// the place does not hide what is missing.
    ///
    /// - Returns: whether the file has nothing but what the chain continues from.
    private mutating func join() -> Bool {
        guard let head else {
            takeEnd()
            return true
        }
        size = file.size
        guard size > 0 else { return true }
        guard let tail = try? AuditTail(path) else {
            lacksNewline = true
            return false
        }
        (begin, lacksNewline) = (tail.begin, tail.lacksNewline)
        guard case .chain(head, let torn) = tail.ending else { return false }
        self.torn = torn
        return true
    }

    /// Continues with the chain that the open file has; false when the file is empty.
    @discardableResult
    private mutating func takeEnd() -> Bool {
        // Of a new file nothing is read by its name, which another program may have given to yet another file.
        guard file.size > 0 else { return false }
        do {
            let tail = try AuditTail(path)
            size = file.size
            begin = tail.begin
            return take(tail)
        } catch {
            logger.warning(
                "the end of the audit file cannot be read; a new chain begins", metadata: ["error": "\(error)"])
            (head, startsAfter) = (nil, AuditChain.afterUnreadable)
            return true
        }
    }

    private mutating func take(_ tail: AuditTail) -> Bool {
        switch tail.ending {
        case .empty: return false
        case .chain(let head, let torn):
            (self.head, self.torn, startsAfter) = (head, torn, nil)
            if !torn.isEmpty { logger.notice("the audit file ends with a torn line", metadata: metadata) }
        case .otherLines:
            (head, torn, startsAfter) = (nil, [], AuditChain.afterOtherLines)
            logger.notice("the audit file has lines of no chain; a chain begins after them", metadata: metadata)
        }
        lacksNewline = tail.lacksNewline
        return true
    }

    /// Continues with the chain of the newest rotated file: the server may have been killed just after a rotation.
    private mutating func takeEndOfRotated() {
        for rotated in RotatedFile.all(of: path).reversed() {
            do {
                let tail = try AuditTail(of: rotated)
                guard tail.ending != .empty else { continue }
                guard case .chain(let head, let torn) = tail.ending else {
                    throw AuditError("\(rotated.path) does not end with a line of a chain")
                }
                (self.head, self.torn) = (head, torn)
            } catch {
                startsAfter = AuditChain.afterUnreadable
                logger.error(
                    "the file that the audit chain ended in cannot be read; a new chain begins",
                    metadata: ["file": "\(rotated.path)", "error": "\(error)"])
            }
            return
        }
    }

    /// Says that the file which the chain should continue in was not there, although other files of it are.
    private func warnOfMissingFile() {
        guard startsAfter.isNil, RotatedFile.hasOthers(of: path) else { return }
        if head == nil {
            logger.warning(
                "the audit file is missing, and older files of it are there; a new chain begins, and does not show what was lost",
                metadata: metadata)
        } else {
            logger.warning(
                "the audit file is missing, and rotated files of it are there; the chain continues after the newest of them, and what was written since, if anything, is lost",
                metadata: metadata)
        }
    }

    // MARK: - Rotation

    /// Renames the file, and begins a new one, if it is too large or too old; returns whether it did.
    private mutating func rotateIfDue(for count: Int) -> Bool {
        guard file.file != nil, size > 0, rotation.isOn else { return false }
        let now = clock.now
        let isTooLarge = rotation.size.map { size + count > $0 } ?? false
        let isTooOld = rotation.age.flatMap { age in begin.map { now >= $0 + age } } ?? false
        guard isTooLarge || isTooOld, nextRotation.map({ now >= $0 }) ?? true else { return false }
        if let failure = rename(now) {
            nextRotation = now + AuditTrail.rotationPause
            logger.error("the audit file cannot be rotated", metadata: ["file": "\(path)", "error": "\(failure)"])
            return false
        }
        if let failure = openAfterRotation() {
            logger.error("no new audit file after a rotation", metadata: ["file": "\(path)", "error": "\(failure)"])
        }
        return true
    }

    /// Renames the file; returns the reason when that fails.
    private mutating func rename(_ now: Instant) -> String? {
        // Another program may have renamed it, and then the other file is not this one's.
        guard FileIdentity(path: path) == file.file else { return "another file has its name; send SIGHUP" }
        file.flush()
        guard let target = RotatedFile.reserve(for: path, now: now) else { return "no name for it: \(Folder.failure)" }
        guard Folder.rename(path, to: target) else {
            let failure = Folder.failure
            Folder.remove(target)
            return failure
        }
        _ = Folder.rename("\(path).idx", to: "\(target).idx")
        awaitsFile = true
        logger.notice("audit file rotated", metadata: metadata.merging(["rotated": "\(target)"]) { $1 })
        return nil
    }

    /// Opens the file that comes after the one that was renamed; returns the reason when that fails.
    private mutating func openAfterRotation() -> String? {
        do {
            go(to: try AuditDescriptor(path))
            Folder.flush(RotatedFile.split(path).folder)
            keeper.tidy()
            return nil
        } catch {
            return error.message
        }
    }

    // MARK: -

    /// The file and the head of the chain, for the log.
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["file": "\(path)"]
        if let head {
            metadata["seq"] = "\(head.sequence)"
            metadata["chain"] = "\(head.value)"
        }
        return metadata
    }

    /// Ends the work on rotated files; what is not finished is done at the next start.
    func close() {
        keeper.close()
        file.release()
    }
}
