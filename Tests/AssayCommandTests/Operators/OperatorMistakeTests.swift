import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import AssayStandard
import AssayYAML
import Logging
import Testing

/// A set of policies with a typical mistake of an operator, and all that is said of it.
struct OperatorMistake: Sendable, CustomTestStringConvertible {
    struct File: Sendable {
        let name: String
        let text: String

        init(_ name: String, _ text: String) {
            self.name = name
            self.text = text
        }
    }

    let name: String
    let files: [File]
    /// `FILE:LINE:COLUMN: PATH: MESSAGE (HINT) [OTHER PLACE: MESSAGE]`, with `warning: ` before the path of a warning.
    let findings: [String]

    init(_ name: String, _ files: File..., finds findings: [String]) {
        self.name = name
        self.files = files
        self.findings = findings
    }

    var testDescription: String { name }

    static let all = layout + keys + references + rules + secrets + limits
}

@Suite("Typical mistakes in policies")
struct OperatorMistakeTests {
    @Test(
        "Each mistake is met with its place, what is wrong, and what was perhaps meant", arguments: OperatorMistake.all)
    func words(_ mistake: OperatorMistake) throws {
        #expect(try findings(mistake).map(Self.line) == mistake.findings)
    }

    @Test("There are many, and no two have one name")
    func many() {
        #expect(OperatorMistake.all.count >= 40)
        #expect(Set(OperatorMistake.all.map(\.name)).count == OperatorMistake.all.count)
        #expect(OperatorMistake.all.allSatisfy { !$0.findings.isEmpty })
    }

    @Test("No message shows what may be a secret", arguments: OperatorMistake.secrets)
    func secrets(_ mistake: OperatorMistake) throws {
        let shown = try findings(mistake).map(\.description).joined()
        for secret in ["s3cr3t", "2f7a8c1e", "PRIVATE KEY"] { #expect(!shown.contains(secret)) }
    }

    /// Errors and warnings as `assay policy check` finds them, in their order.
    private func findings(_ mistake: OperatorMistake) throws -> [Diagnostic] {
        let policies = PolicySet.read(mistake.files.map { PolicyFile(name: $0.name, text: $0.text) })
        let host = PluginHost(
            store: MemoryStore(clock: .system),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let registry = try Registry(.standard, administration: .api)
        do throws(Diagnostics) {
            return try policies.check(registry, host: host, refusesDevelopment: false)?.all ?? []
        } catch {
            return Diagnostics(error.all + (policies.warnings?.all ?? []))?.all ?? []
        }
    }

    private static func line(_ finding: Diagnostic) -> String {
        let head = [
            finding.location?.description ?? finding.file, finding.severity == .warning ? "warning" : nil,
            finding.path.isEmpty ? nil : finding.path, finding.message,
        ].compactMap(\.self).joined(separator: ": ")
        let others = finding.related.map { " [\($0.location): \($0.message)]" }.joined()
        return head + (finding.hint.map { " (\($0))" } ?? "") + others
    }
}
