public import AssayCore
internal import AssayPolicy

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The files of a folder of captured evidence: one for each hour, and another one when it is large.
///
/// They are named `evidence-20261124T08-0001.jsonl`, by the hour of their records, so that their names are in the order of
/// time.
struct EvidenceFiles: ~Copyable {
    /// A file that is written to.
    private struct Present {
        let file: AuditDescriptor
        let name: String
        let hour: Int64
    }

    /// The largest file, in bytes.
    static let fileLimit = 64 << 20
    private static let prefix = "evidence-"
    private static let suffix = ".jsonl"

    let path: String
    /// The open folder, whose lock keeps other servers away.
    private var folder: Int32
    private var present: Present?
    /// The sizes of the files, by their names.
    private var sizes: [ExactText: Int] = [:]

    /// How many bytes all files have.
    var total: Int { sizes.values.reduce(0, +) }

    /// Opens a folder, or makes it.
    ///
    /// - Throws: ``EvidenceFolderError`` when others may use it, or when another server does.
    init(_ path: String) throws(EvidenceFolderError) {
        folder = try Self.openFolder(path)
        self.path = path
        list()
    }

    private static func openFolder(_ path: String) throws(EvidenceFolderError) -> Int32 {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw failure("make", path) }
        let folder = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard folder >= 0 else { throw failure("open", path) }
        do throws(EvidenceFolderError) {
            var status = stat()
            guard fstat(folder, &status) == 0 else { throw failure("inspect", path) }
            guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
                throw EvidenceFolderError(
                    "\(path) has the mode \(String(status.st_mode & 0o777, radix: 8)) or another owner: captured "
                        + "evidence is for the server's user only; chmod 700 \(path)")
            }
            guard flock(folder, LOCK_EX | LOCK_NB) == 0 else {
                throw EvidenceFolderError("\(path) is used by another server: each needs a folder of its own")
            }
        } catch {
            close(folder)
            throw error
        }
        return folder
    }

    deinit {
        close(folder)
    }

    /// Writes a line to the file of its hour.
    ///
    /// - Returns: why it could not be written; nil when it was.
    mutating func append(_ line: [UInt8], at now: Instant, _ limits: CaptureLimits) -> String? {
        guard line.count <= limits.size else { return "a record is larger than `max_size`" }
        let hour = Self.hour(of: now)
        let fileLimit = max(min(Self.fileLimit, limits.size / 8), 1)
        if let present {
            let size = sizes[present.name] ?? 0
            if present.hour != hour || present.file.isRemoved || (size > 0 && size + line.count > fileLimit) {
                self.present = nil
                list()
            }
        }
        prune(at: now, limits, room: line.count)
        do throws(EvidenceFolderError) {
            let present = if let present { present } else { try make(hour: hour) }
            self.present = present
            switch present.file.write(line[...]) {
            case .whole:
                sizes[present.name, default: 0] += line.count
                return nil
            case .failed(let count, let words):
                // A reader must not take two parts of lines for one.
                if count > 0, !present.file.truncate(to: sizes[present.name] ?? 0) { self.present = nil }
                return words
            }
        } catch {
            return error.message
        }
    }

    /// Deletes the files that are too old, and the oldest ones while all are too large together.
    ///
    /// - Parameter room: how many bytes will be written.
    mutating func prune(at now: Instant, _ limits: CaptureLimits, room: Int = 0) {
        for name in sizes.keys.sorted() {
            // By the beginning of its hour, so that no record is kept for longer.
            let isOld = Self.time(of: name.string).map { $0 + limits.age <= now } ?? false
            guard isOld || total + room > limits.size else { continue }
            if let present, present.name.isExactly(name.string) { self.present = nil }
            guard unlinkat(folder, name.string, 0) == 0 || errno == ENOENT else { continue }
            sizes[name] = nil
        }
    }

    /// Looks at the folder again: files may have been deleted or moved by others.
    mutating func list() {
        guard let directory = opendir(path) else { return }
        defer { closedir(directory) }
        var found: [ExactText: Int] = [:]
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            var status = stat()
            guard Self.time(of: name) != nil, fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
                status.st_mode & S_IFMT == S_IFREG
            else { continue }
            found[ExactText(name)] = Int(status.st_size)
        }
        sizes = found
    }

    /// Makes what was written survive a loss of power, if that is possible.
    mutating func finish() {
        present?.file.flush()
        present = nil
    }

    /// Opens the folder anew where its path leads to another one, or to none: it was removed, moved or mounted over.
    private mutating func refreshFolder() throws(EvidenceFolderError) {
        var (present, named) = (stat(), stat())
        if fstat(folder, &present) == 0, stat(path, &named) == 0, present.st_ino == named.st_ino,
            present.st_dev == named.st_dev
        {
            return
        }
        let other = try Self.openFolder(path)
        close(folder)
        folder = other
        list()
    }

    private mutating func make(hour: Int64) throws(EvidenceFolderError) -> Present {
        try refreshFolder()
        let start = Self.prefix + Self.text(ofHour: hour) + "-"
        let last = sizes.keys.filter { $0.string.starts(withExactly: start) }.max()
        let number = last.map { Self.number(ofFile: $0.string) } ?? 0
        guard number < 9999 else { throw EvidenceFolderError("\(path) has too many files of one hour") }
        let digits = String(10_000 + number + 1).utf8.dropFirst()
        let name = start + String(decoding: digits, as: UTF8.self) + Self.suffix
        guard let file = AuditDescriptor(new: name, in: folder) else { throw Self.failure("make", "\(path)/\(name)") }
        sizes[name] = 0
        return Present(file: file, name: name, hour: hour)
    }

    private static func failure(_ action: String, _ path: String) -> EvidenceFolderError {
        EvidenceFolderError("cannot \(action) \(path): \(String(cString: strerror(errno)))")
    }

    private static func hour(of instant: Instant) -> Int64 { instant.seconds / 3600 }

    /// `20261124T08`.
    private static func text(ofHour hour: Int64) -> String {
        let text = Instant(seconds: hour * 3600).description
        return text.prefix(13).utf8.reduce(into: "") { result, byte in
            if byte != UInt8(ascii: "-") { result.unicodeScalars.append(Unicode.Scalar(byte)) }
        }
    }

    /// The last four digits of the name of a file.
    private static func number(ofFile name: String) -> Int {
        name.utf8.dropLast(suffix.utf8.count).suffix(4).reduce(0) { $0 * 10 + Int(min(max($1, 48), 57) - 48) }
    }

    /// The beginning of the hour that the name of a file says; nil for another name.
    static func time(of name: String) -> Instant? {
        guard name.utf8.count == prefix.utf8.count + 16 + suffix.utf8.count, name.isASCII,
            name.starts(withExactly: prefix), name.ends(withExactly: suffix)
        else { return nil }
        let middle = Array(name.utf8.dropFirst(prefix.utf8.count).prefix(16))
        let digits = middle.enumerated().filter { ![8, 11].contains($0.offset) }.map(\.element)
        guard middle.count == 16, middle[8] == UInt8(ascii: "T"), middle[11] == UInt8(ascii: "-"),
            digits.allSatisfy(\.isASCIIDigit)
        else { return nil }
        func number(_ range: Range<Int>) -> Int { middle[range].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } }
        return Instant(
            year: number(0..<4), month: number(4..<6), day: number(6..<8), hour: number(9..<11), minute: 0, second: 0)
    }
}

/// Why a folder cannot be used for captured evidence.
public struct EvidenceFolderError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, in words for an operator.
    @Exact public private(set) var message: String

    init(_ message: String) {
        self.message = message
    }

    /// Same as ``message``.
    public var description: String { message }
}
