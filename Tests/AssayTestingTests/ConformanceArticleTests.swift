import AssayCore
import AssayKit
import AssayTesting
import Foundation
import Testing

@Suite("The article about conformance")
struct ConformanceArticleTests {
    private static let article = URL(fileURLWithPath: #filePath)
        .appendingPathComponent("../../../Sources/AssayEngine/AssayEngine.docc/Conformance.md").standardizedFileURL

    /// The rows of the table under a heading.
    private func rows(under heading: String) throws -> [String] {
        let text = try String(contentsOf: Self.article, encoding: .utf8)
        let part = try #require(text.components(separatedBy: "\n## \(heading)\n").dropFirst().first)
        let section = part.components(separatedBy: "\n## ")[0]
        return section.split(separator: "\n").map(String.init).filter { $0.hasPrefix("| `") }
    }

    private func rows(_ report: ConformanceReport) -> [String] {
        report.lines.filter { $0.check != "adversary-unknown-client" }.map { "| `\($0.check)` | \($0.rule) |" }
    }

    @Test("It lists the checks of providers, in their order")
    func providers() async throws {
        let report = await StatementDevice.suite(StatementProvider<Correct, DescribedSection>.self).report(.quick)
        #expect(try rows(under: "Checks of providers") == rows(report))
    }

    @Test("It lists the checks of consumers, in their order")
    func consumers() async throws {
        let report = await PassClient.suite(CorrectPass.self).report(.quick)
        #expect(try rows(under: "Checks of consumers") == rows(report))
    }
}
