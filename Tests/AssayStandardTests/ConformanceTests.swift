import AssayEngine
import AssayKit
import AssayStandard
import Testing

@Suite("The conformance of the plugins that come with Assay")
struct ConformanceTests {
    // Two rows, in each one after the other: each check has a limit of time.
    @Test("Every one of the first ten keeps every rule", .serialized, arguments: 0..<10)
    func first(_ index: Int) async throws {
        try await conformance(index)
    }

    @Test("Every one of the last ten keeps every rule", .serialized, arguments: 10..<20)
    func last(_ index: Int) async throws {
        try await conformance(index)
    }

    private func conformance(_ index: Int) async throws {
        let suites = try [any ConformanceSuite].standard
        try #require(suites.count == 20)
        let report = await suites[index].report(.quick)
        #expect(report.failures == [], "\(report.name)")
    }

    @Test("Each plugin has a suite")
    func complete() throws {
        let names = Set(try [any ConformanceSuite].standard.map(\.name))
        let registry = try Registry(.standard)
        // Stores on servers are checked by their own tests, which start servers.
        let onServers = registry.storeDescriptors.filter { $0.sharing == .servers }.map(\.scheme)
        #expect(onServers == ["postgres", "redis", "rediss"])
        for plugin in registry.plugins where !onServers.contains(plugin.name) {
            #expect(names.contains(plugin.name), "\(plugin.kind) \(plugin.name)")
        }
    }
}
