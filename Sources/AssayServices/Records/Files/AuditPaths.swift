internal import AssayCore

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Finds the audit files that an operator means.
package enum AuditPaths {
    private static let limit = 100_000

    /// The files of some paths: of a file itself with its rotated ones, of a folder all, of a pattern what it matches.
    ///
    /// Each file is there once; they are in no order.
    ///
    /// - Parameter empty: gets the folders that have no audit file.
    /// - Throws: ``AuditFileError`` for a path that does not exist.
    package static func files(
        _ paths: [String], empty: inout [String]
    ) throws(AuditFileError) -> [String] {
        var seen: Set<ExactText> = []
        var files: [String] = []
        func add(_ path: String) {
            if files.count < limit, seen.insert(path).inserted { files.append(path) }
        }
        for path in paths {
            let rotated = RotatedFile.original(of: path).isNil ? RotatedFile.all(of: path).map(\.path) : []
            if isFolder(path) {
                guard let names = Folder.names(in: path) else {
                    throw AuditFileError("cannot read \(path): \(Folder.failure)")
                }
                let audited = names.sortedExactly().filter { isAuditFile($0, in: path, names) }
                if audited.isEmpty { empty.append(path) }
                for name in audited { add(RotatedFile.join(path, name)) }
            } else if FileStatus(path: path) != nil {
                // A shell's pattern names the indexes beside the files, too.
                if isIndex(path) { continue }
                for file in rotated + [path] { add(file) }
            } else if !rotated.isEmpty {
                for file in rotated { add(file) }
            } else {
                let found = matches(path)
                guard !found.isEmpty else { throw AuditFileError("no audit file \(path)") }
                for file in found where !isCompanion(file) && !isFolder(file) { add(file) }
            }
        }
        return files
    }

    /// The files of some paths, whatever folders have none.
    package static func files(_ paths: [String]) throws(AuditFileError) -> [String] {
        var empty: [String] = []
        return try files(paths, empty: &empty)
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether a name in a folder is that of an audit file, and not one beside it.
    private static func isAuditFile(_ name: String, in folder: String, _ names: [String]) -> Bool {
        if name.starts(withExactly: ".") || isCompanion(name) || isFolder(RotatedFile.join(folder, name)) {
            return false
        }
        guard name.ends(withExactly: ".gz"), !RotatedFile.original(of: name).isNil else { return true }
        // The server was killed before it removed the file that it had compressed.
        return FileStatus(path: RotatedFile.join(folder, name.dropLastBytes(3))) == nil
    }

    /// Whether a path is that of an index, beside the file that it is of.
    private static func isIndex(_ path: String) -> Bool {
        path.ends(withExactly: ".idx") && FileStatus(path: path.dropLastBytes(4)) != nil
    }

    private static func isCompanion(_ name: String) -> Bool {
        name.ends(withExactly: ".idx") || name.ends(withExactly: ".tmp") || name.ends(withExactly: ".lock")
    }

    private static func matches(_ pattern: String) -> [String] {
        var found = glob_t()
        defer { globfree(&found) }
        guard glob(pattern, 0, nil, &found) == 0, let paths = found.gl_pathv else { return [] }
        return (0..<min(Int(found.gl_pathc), limit)).compactMap { index in
            paths[index].map { String(cString: $0) }
        }
    }
}
