public import Foundation

/// The public fixtures and vectors that lie beside a checkout, in `../shared`, or where `ASSAY_SHARED` points.
///
/// A clone elsewhere lacks them; tests that need them are then skipped, and say so.
public enum SharedFiles {
    /// The folder, or nil where there is none.
    public static let root: URL? = {
        var candidates: [URL] = []
        if let named = ProcessInfo.processInfo.environment["ASSAY_SHARED"] {
            candidates.append(URL(fileURLWithPath: named, isDirectory: true))
        }
        let repository = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        candidates.append(repository.appendingPathComponent("../shared", isDirectory: true).standardizedFileURL)
        return candidates.first { FileManager.default.fileExists(atPath: $0.path) }
    }()

    /// Why a test that needs these files did not run.
    public static let absence = "skipped: the public fixtures and vectors are not beside this checkout"

    /// Whether a file or folder is there.
    public static func has(_ path: String) -> Bool {
        root.map { FileManager.default.fileExists(atPath: $0.appendingPathComponent(path).path) } ?? false
    }

    /// The bytes of a file; empty when it cannot be read, which no fixture is.
    public static func bytes(_ path: String) -> [UInt8] {
        guard let root, let data = try? Data(contentsOf: root.appendingPathComponent(path)) else { return [] }
        return [UInt8](data)
    }

    /// The paths of the files of a folder with an ending, sorted.
    public static func list(_ folder: String, ending: String) -> [String] {
        guard let root,
            let names = try? FileManager.default.contentsOfDirectory(
                atPath: root.appendingPathComponent(folder).path)
        else { return [] }
        return names.filter { $0.hasSuffix(ending) }.sorted().map { "\(folder)/\($0)" }
    }
}
