package import AssayCore

/// A rotated audit file: `FILE.20261124T081500Z-000001`, or the same with `.gz`.
///
/// The names sort by time, and none is used twice.
package struct RotatedFile: Sendable, Hashable {
    /// The path without `.gz`.
    @Exact package private(set) var plainPath: String
    /// The time and the number: the sorting part of the name.
    @Exact package private(set) var mark: String
    package let isCompressed: Bool

    /// The path of the file.
    package var path: String { isCompressed ? "\(plainPath).gz" : plainPath }

    /// The rotated files of an audit file, the oldest first.
    ///
    /// Of a file that is there compressed and not compressed, because the server was killed between the two, the
    /// compressed one is left out: it may be incomplete only as a temporary file, which has another name.
    package static func all(of path: String) -> [RotatedFile] {
        let (folder, name) = split(path)
        var found: [RotatedFile] = []
        for entry in Folder.names(in: folder) ?? [] {
            guard entry.starts(withExactly: "\(name)."), let file = RotatedFile(entry, folder: folder, name: name)
            else { continue }
            found.append(file)
        }
        let plain = Set(exactly: found.filter { !$0.isCompressed }.map(\.mark))
        return found.filter { !$0.isCompressed || !plain.contains($0.mark) }
            .sorted { $0.mark.precedesExactly($1.mark) }
    }

    /// Whether rotated files of an audit file are beside it, also those of other programs: `FILE.1`, `FILE-20261124.gz`.
    package static func hasOthers(of path: String) -> Bool {
        let (folder, name) = split(path)
        return (Folder.names(in: folder) ?? []).contains { entry in
            (entry.starts(withExactly: "\(name).") || entry.starts(withExactly: "\(name)-"))
                && ![".idx", ".tmp", ".lock"].contains { entry.ends(withExactly: $0) }
        }
    }

    private init?(_ entry: String, folder: String, name: String) {
        var mark = String(entry.dropFirstBytes(name.utf8.count + 1))
        isCompressed = mark.ends(withExactly: ".gz")
        if isCompressed { mark = String(mark.dropLastBytes(3)) }
        guard RotatedFile.isMark(mark) else { return nil }
        self.mark = mark
        plainPath = RotatedFile.join(folder, "\(name).\(mark)")
    }

    /// `20261124T081500Z-000001`.
    static func isMark(_ text: String) -> Bool {
        let form = Array("00000000T000000Z-000000".utf8)
        return text.utf8.count == form.count
            && zip(text.utf8, form).allSatisfy { $1 == UInt8(ascii: "0") ? $0.isASCIIDigit : $0 == $1 }
    }

    /// The audit file that a name is a rotated file of; nil for another name.
    package static func original(of path: String) -> String? {
        var path = path
        if path.ends(withExactly: ".gz") { path = String(path.dropLastBytes(3)) }
        let count = path.utf8.count - 23
        guard count > 1, isMark(String(path.dropFirstBytes(count))) else { return nil }
        return String(path.dropLastBytes(24))
    }

    /// Whether the file that an index is about does not exist.
    package static func hasNoFile(index path: String) -> Bool { FileStatus(path: path.dropLastBytes(4)) == nil }

    /// Reserves the path of the next rotated file: later than all others, also when the clock was set back.
    ///
    /// - Returns: nil when no name can be reserved.
    package static func reserve(for path: String, now: Instant) -> String? {
        let (folder, name) = split(path)
        var time = RotatedFile.time(now)
        var number = 1
        if let last = all(of: path).last, !last.mark.prefixBytes(16).precedesExactly(time) {
            time = last.mark.prefixBytes(16)
            number = (Int(last.mark.dropFirstBytes(17)) ?? 0) + 1
        }
        while number <= 999_999 {
            let digits = String(number)
            let mark = "\(time)-\(String(repeating: "0", count: 6 - digits.utf8.count))\(digits)"
            let candidate = join(folder, "\(name).\(mark)")
            if FileStatus(path: "\(candidate).gz") == nil, Folder.reserve(candidate) { return candidate }
            guard FileStatus(path: candidate) != nil || FileStatus(path: "\(candidate).gz") != nil else { return nil }
            number += 1
        }
        return nil
    }

    /// `20261124T081500Z`.
    private static func time(_ now: Instant) -> String {
        String(
            decoding: now.textWithMilliseconds.utf8.prefix(19).filter { $0 != 0x2D && $0 != 0x3A } + [0x5A],
            as: UTF8.self)
    }

    /// The folder and the name of a path.
    package static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let folder = path[..<slash]
        return (folder.isEmpty ? "/" : String(folder), String(path[path.utf8.index(after: slash)...]))
    }

    package static func join(_ folder: String, _ name: String) -> String {
        if folder.isExactly(".") { return name }
        return folder.ends(withExactly: "/") ? folder + name : "\(folder)/\(name)"
    }
}

extension String {
    func dropFirstBytes(_ count: Int) -> String { String(decoding: utf8.dropFirst(count), as: UTF8.self) }
    func dropLastBytes(_ count: Int) -> String { String(decoding: utf8.dropLast(count), as: UTF8.self) }
    func prefixBytes(_ count: Int) -> String { String(decoding: utf8.prefix(count), as: UTF8.self) }
}
