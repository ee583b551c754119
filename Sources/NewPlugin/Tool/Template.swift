internal import Foundation

/// A package with another name, that new packages are copies of.
struct Template {
    struct File: Equatable {
        /// From the top of the package.
        let path: String
        let text: String
    }

    let kind: TemplateKind
    let files: [File]

    /// Reads the template of a kind; `folder` has those of all kinds.
    ///
    /// - Throws: ``Refusal`` when it is not there.
    init(_ kind: TemplateKind, in folder: URL) throws(Refusal) {
        self.kind = kind
        let root = folder.appendingPathComponent(kind.word).standardizedFileURL
        var files: [File] = []
        do {
            for path in try FileManager.default.subpathsOfDirectory(atPath: root.path).sorted() {
                let file = root.appendingPathComponent(path)
                guard !Self.isMade(path), try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true
                else { continue }
                files.append(File(path: path, text: try String(contentsOf: file, encoding: .utf8)))
            }
        } catch {
            throw Refusal("the template cannot be read: \(error.localizedDescription)")
        }
        self.files = files
    }

    /// The files of a new package.
    func files(for name: PluginName, on assay: AssayDependency) -> [File] {
        files.map { file in
            let text = assay.declared(in: file.text)
                .replacingOccurrences(of: #"package: "assay""#, with: "package: \(assay.identity.debugDescription)")
                .replacingOccurrences(
                    of: "https://github.com/example/assay", with: assay.address ?? "https://github.com/example/assay")
            return File(path: renamed(file.path, name), text: renamed(text, name))
        }
    }

    private func renamed(_ text: String, _ name: PluginName) -> String {
        kind.names.reduce(text) { $0.replacingOccurrences(of: $1.0, with: name[keyPath: $1.1]) }
    }

    /// Whether a build made the file, in a checkout where somebody built the template.
    private static func isMade(_ path: String) -> Bool {
        let parts = path.split(separator: "/")
        return parts.contains { $0.utf8.elementsEqual(".build".utf8) }
            || parts.last?.utf8.elementsEqual("Package.resolved".utf8) == true
    }
}
