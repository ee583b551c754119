internal import AssayCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The files of a store: that at its location, and those beside it whose names begin with that name.
struct StoreFiles: Sendable {
    private let location: URL
    /// Where copies are.
    private let folder: URL

    /// Nil when there is no file at the location.
    init?(_ location: String) throws {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: location, isDirectory: &isFolder), !isFolder else { return nil }
        self.location = URL(filePath: location)
        folder = FileManager.default.temporaryDirectory
            .appending(path: "assay-suite-\(Hex.encode(Randomness.system.bytes(8)))")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Copies the files as they are now.
    ///
    /// Returns the location of the copy.
    func copy() throws -> String {
        let name = location.lastPathComponent
        let copy = folder.appending(path: Hex.encode(Randomness.system.bytes(8)))
        let beside = location.deletingLastPathComponent()
        for file in try FileManager.default.contentsOfDirectory(atPath: beside.path)
        where file.starts(withExactly: name) {
            let rest = String(decoding: Array(file.utf8.dropFirst(name.utf8.count)), as: UTF8.self)
            try FileManager.default.copyItem(
                atPath: beside.appending(path: file).path, toPath: copy.path + rest)
        }
        return copy.path
    }

    /// How long the file is whose name has this after the location; 0 when there is none.
    func length(_ suffix: String) throws -> Int {
        guard FileManager.default.fileExists(atPath: location.path + suffix) else { return 0 }
        return try Data(contentsOf: URL(filePath: location.path + suffix)).count
    }

    /// Cuts a file of a copy.
    func cut(_ suffix: String, of copy: String, to length: Int) throws {
        let file = URL(filePath: copy + suffix)
        try Data(contentsOf: file).prefix(length).write(to: file)
    }

    /// Removes a copy.
    func forget(_ copy: String) {
        let name = URL(filePath: copy).lastPathComponent
        for file in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        where file.starts(withExactly: name) {
            try? FileManager.default.removeItem(at: folder.appending(path: file))
        }
    }

    /// Removes all copies.
    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }
}
