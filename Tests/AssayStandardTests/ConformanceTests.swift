import AssayEngine
import AssayHosting
import AssayStandard
import Testing

@Suite("The conformance of the plugins that come with Assay")
struct ConformanceTests {
    @Test("Every one keeps every rule", arguments: 0..<11)
    func conformance(_ index: Int) async throws {
        let suites = try [any ConformanceSuite].standard
        try #require(suites.count == 11)
        let report = await suites[index].report(.quick)
        #expect(report.failures == [], "\(report.name)")
    }

    @Test("Each plugin has a suite")
    func complete() throws {
        let names = Set(try [any ConformanceSuite].standard.map(\.name))
        let registry = try Registry(.standard)
        for plugin in registry.plugins {
            #expect(names.contains(plugin.name), "\(plugin.kind) \(plugin.name)")
        }
    }
}
