import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import Foundation
import Testing

@Suite("The pages about stores, sinks and vaults keep their word")
struct StorePageTests {
    private static let page = "\(Document.articles)/WriteAStore.md"
    private static let template = Document.root.appendingPathComponent("Sources/NewPlugin/Templates/store")

    private func text(_ path: String, in folder: URL = Document.root) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
    }

    @Test("It shows every file of Swift in the template, except for the manifests")
    func template() throws {
        let page = try text(Self.page)
        let files = try FileManager.default.subpathsOfDirectory(atPath: Self.template.path).filter {
            $0.hasSuffix(".swift") && !$0.hasSuffix("Package.swift") && !$0.contains(".build")
        }
        #expect(files.count == 6)
        for file in files {
            let code = try text(file, in: Self.template)
            #expect(page.contains("`\(file)`:\n\n```swift\n\(code)```\n"), "\(file)")
        }
    }

    @Test("It lists the names that the template uses of the contract, at most 15")
    func names() throws {
        let declaration = try Regex(
            #"(?m)^public (?:final )?(?:struct|class|enum|actor|protocol) (\w+)"#, as: (Substring, Substring).self)
        var known: Set<Substring> = []
        for module in ["AssayCore", "AssayKit"] {
            let folder = Document.root.appendingPathComponent("Sources/\(module)")
            for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            where file.hasSuffix(".swift") {
                known.formUnion(try text(file, in: folder).matches(of: declaration).map(\.output.1))
            }
        }
        #expect(known.count > 100)
        let sources = Self.template.appendingPathComponent("Sources")
        var used: Set<Substring> = []
        for file in try FileManager.default.subpathsOfDirectory(atPath: sources.path) where file.hasSuffix(".swift") {
            let code = try text(file, in: sources).replacing(/\/\/.*/, with: "").replacing(/"[^"\n]*"/, with: "")
            used.formUnion(code.matches(of: /\b[A-Z]\w+/).map(\.output))
        }
        let names = known.intersection(used).map(String.init).sorted()
        #expect(names.count <= 15)
        let listed = try Document(Self.page).table(under: "name").map { $0[0].replacing("`", with: "") }
        #expect(listed.sorted() == names)
    }

    @Test(
        "A page lists the promises that the suite looks at, in its words",
        arguments: [
            ("WriteAStore", PromiseSuite("memory", version: "", StateStoreSuite { MemoryStore(clock: $0) })),
            ("WriteASink", PromiseSuite("none", version: "", DecisionSinkSuite { _ in throw CancellationError() })),
            ("WriteAVault", PromiseSuite("none", version: "", KeyVaultSuite { _ in throw CancellationError() })),
        ])
    func promises(_ name: String, _ suite: PromiseSuite) throws {
        let rows = try Document("\(Document.articles)/\(name).md").table(under: "promise")
        try #require(rows.allSatisfy { $0.count == 2 })
        #expect(rows.map { $0[0] } == suite.checks.map { "`\($0.name)`" })
        #expect(rows.map { $0[1] } == suite.checks.map(\.rule))
    }

    @Test(
        "A page shows the code that is compiled and tested here",
        arguments: [("WriteASink", "LineSink"), ("WriteAVault", "ObjectVault")])
    func code(_ name: String, _ file: String) throws {
        let page = try text("\(Document.articles)/\(name).md")
        #expect(page.contains("```swift\n\(try text("Tests/ReadmeTests/\(file).swift"))```\n"))
    }
}
