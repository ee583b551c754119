import Foundation
import Testing

@testable import new_plugin

@Suite("Templates of new packages")
struct TemplateTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Sources/NewPlugin/Templates").standardizedFileURL

    @Test(
        "A new package has nothing of its template's name", arguments: TemplateKind.allCases, ["till", "gate_2_east"])
    func renamed(_ kind: TemplateKind, _ text: String) throws {
        let name = try PluginName(text)
        let template = try Template(kind, in: Self.folder)
        let files = template.files(
            for: name, on: .release(url: "https://git.example.org/a/assay.git", version: "1.2.3"))
        #expect(files.count == template.files.count && files.count >= 9)
        for file in files {
            for (form, _) in kind.names {
                #expect(!file.path.contains(form) && !file.text.contains(form), "\(file.path) has \(form)")
            }
            #expect(!file.text.contains("example/assay"), "\(file.path)")
        }
        let paths = files.map(\.path)
        #expect(paths.contains("Package.swift") && paths.contains("README.md") && paths.contains(".gitignore"))
        #expect(paths.contains("Server/Sources/\(name.hyphenated)-server/main.swift"))
        #expect(paths.contains("Tests/\(name.upperCamel)Tests/\(name.upperCamel)Tests.swift"))
        #expect(paths.contains("policies/example.yaml"))
    }

    @Test("A server is a main.swift of at most 15 lines", arguments: TemplateKind.allCases)
    func mainFile(_ kind: TemplateKind) throws {
        let main = try #require(try Template(kind, in: Self.folder).files.first { $0.path.hasSuffix("main.swift") })
        #expect(main.text.split(separator: "\n", omittingEmptySubsequences: false).count <= 16)
    }

    @Test(
        "A new package depends on Assay as the package does that asked for it",
        arguments: [
            (
                AssayDependency.folder("/a b/assay"),
                ".package(name: \"assay\", path: \"/a b/assay\", traits: ",
                "package: \"assay\""
            ),
            (
                .release(url: "https://git.example.org/copy.git", version: "0.3.0"),
                ".package(url: \"https://git.example.org/copy.git\", .upToNextMinor(from: \"0.3.0\"), traits: ",
                "package: \"copy\""
            ),
            (
                .commit(url: "https://git.example.org/assay", revision: "0123abc"),
                ".package(url: \"https://git.example.org/assay\", revision: \"0123abc\", traits: ",
                "package: \"assay\""
            ),
        ])
    func dependency(_ assay: AssayDependency, _ declaration: String, _ product: String) throws {
        for kind in TemplateKind.allCases {
            let files = try Template(kind, in: Self.folder).files(for: try PluginName("till"), on: assay)
            // The plugin needs no other package; its server needs them.
            for (path, traits) in [("Package.swift", "[]"), ("Server/Package.swift", "[\"Server\"]")] {
                let manifest = try #require(files.first { $0.path == path }).text
                #expect(manifest.contains("\(declaration)\(traits))"), "\(path): \(manifest)")
                #expect(!manifest.contains("../../../.."))
                let others = manifest.replacing("package: \"till\"", with: "")
                #expect(
                    others.components(separatedBy: "package: \"").count == others.components(separatedBy: product).count
                )
            }
        }
    }

    @Test("What is there is never written over")
    func existing() throws {
        let parent = FileManager.default.temporaryDirectory.appendingPathComponent("new-plugin-\(UUID())")
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: parent) }
        let files = try Template(.provider, in: Self.folder).files(for: try PluginName("till"), on: .folder("/assay"))
        let package = NewPackage(try PluginName("till"), in: parent)
        try package.write(files)
        for file in files {
            let text = try String(contentsOf: package.folder.appendingPathComponent(file.path), encoding: .utf8)
            #expect(text == file.text)
        }
        #expect(throws: Refusal.self) { try package.write(files) }

        let lost = NewPackage(try PluginName("lost"), in: parent)
        try FileManager.default.createSymbolicLink(
            atPath: lost.folder.path, withDestinationPath: parent.appendingPathComponent("nowhere").path)
        let refusal = #expect(throws: Refusal.self) { try lost.write(files) }
        #expect(refusal?.description.contains("exists already: nothing was written") == true)
        #expect(!FileManager.default.fileExists(atPath: parent.appendingPathComponent("nowhere").path))
    }

    @Test(
        "A command takes one name, and says how it is used",
        arguments: [["--"], ["--", "a", "b"], ["--", "--help"], ["--", "-h"], ["--", ""]])
    func usage(_ written: [String]) {
        let found = ["store", "/templates", "/parent", "folder", "/assay"]
        let refusal = #expect(throws: Refusal.self) { try Request(found + written) }
        #expect(refusal?.description.contains("NAME") == true || refusal?.description.contains("name") == true)
        #expect(throws: Refusal.self) { try Request(Array(found.dropLast()) + ["--", "till"]) }
    }
}
