import Foundation
import Testing

/// What the page *Architecture* says of floors, layers and files is compared with what there is.
@Suite("Architecture")
struct ArchitectureTests {
    private let article: Document

    init() throws {
        article = try Document("\(Document.articles)/Architecture.md")
    }

    @Test("A module depends only on modules of its own floor and of those below it")
    func floors() throws {
        let rows = article.table(under: "floor")
        var floor: [String: Int] = [:]
        for (height, row) in rows.reversed().enumerated() {
            for module in row[1].spans {
                #expect(floor.updateValue(height, forKey: module) == nil, "\(module) has two floors")
            }
        }
        let declared = try PackageManifest.dependencies()
        #expect(Set(floor.keys) == Set(declared.keys.filter { !$0.hasPrefix("C") }))
        for (module, dependencies) in declared {
            for dependency in dependencies {
                guard let lower = floor[dependency], let own = floor[module] else { continue }
                #expect(lower <= own, "\(module) depends on \(dependency), which is on a higher floor")
            }
        }
    }

    /// Top-level types are found where they are declared, and looked for in the code of all other folders.
    @Test("A folder of the kernel uses only those below it")
    func layers() throws {
        let order = article.table(under: "folder of `AssayEngine`").flatMap { $0[0].spans }
        let layers = Dictionary(uniqueKeysWithValues: order.reversed().enumerated().map { ($1, $0) })
        let files = try Self.kernel()
        let declaration =
            #/^(?:(?:public|package|final|indirect|nonisolated) )*(?:struct|class|enum|protocol|actor) (\w+)/#
            .anchorsMatchLineEndings()
        var home: [String: String] = [:]
        for file in files {
            for found in file.code.matches(of: declaration) { home[String(found.output.1)] = file.folder }
        }
        #expect(home["DecisionGate"] == "Calls" && home["Registry"] == "Registry" && home.count > 100)
        var count = 0
        for file in files {
            let names = Set(file.code.matches(of: #/\b[A-Z]\w+/#).map { String($0.output) })
            for name in names {
                guard let other = home[name], other != file.folder else { continue }
                count += 1
                let (own, used) = (try #require(layers[file.folder]), try #require(layers[other]))
                #expect(used < own, "\(file.folder)/\(file.name) uses \(name) of \(other), which is above it")
            }
        }
        #expect(count > 250)
    }

    @Test("Every file that is named exists")
    func files() throws {
        let names = article.prose.flatMap(\.spans).filter { $0.hasSuffix(".swift") && $0.contains("/") }
        #expect(names.count > 30)
        let homes = ["Sources", "Plugins", "Plugins/Providers", "Plugins/Consumers"]
        for name in names {
            let isThere = homes.contains { home in
                FileManager.default.fileExists(atPath: Document.root.appendingPathComponent("\(home)/\(name)").path)
            }
            #expect(isThere, "\(name)")
        }
    }

    /// Without it, a build fails with some numbers of processors: see `Package.swift`.
    @Test("A file that imports Glibc imports SwiftOverlayShims too")
    func shims() throws {
        var count = 0
        for folder in ["Sources", "Plugins"] {
            let root = Document.root.appendingPathComponent(folder)
            for path in try FileManager.default.subpathsOfDirectory(atPath: root.path) where path.hasSuffix(".swift") {
                let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
                guard text.contains("import Glibc\n") else { continue }
                count += 1
                #expect(text.contains("import SwiftOverlayShims\n"), "\(folder)/\(path)")
            }
        }
        #expect(count > 50)
    }

    private struct SourceFile {
        let folder: String
        let name: String
        /// Without comments and texts.
        let code: String
    }

    private static func kernel() throws -> [SourceFile] {
        let root = Document.root.appendingPathComponent("Sources/AssayEngine")
        var files: [SourceFile] = []
        for folder in try FileManager.default.contentsOfDirectory(atPath: root.path) where !folder.hasSuffix(".docc") {
            let place = root.appendingPathComponent(folder)
            for name in try FileManager.default.contentsOfDirectory(atPath: place.path) where name.hasSuffix(".swift") {
                let text = try String(contentsOf: place.appendingPathComponent(name), encoding: .utf8)
                let code = text.replacing(#/\/\/.*/#, with: "").replacing(#/"""(?s:.*?)"""/#, with: "")
                    .replacing(#/"(?:\\.|[^"\\\n])*"/#, with: "")
                files.append(SourceFile(folder: folder, name: name, code: code))
            }
        }
        return files
    }
}

extension String {
    /// What stands between grave accents.
    fileprivate var spans: [String] { matches(of: #/`([^`]+)`/#).map { String($0.output.1) } }
}
