internal import AssayCore
public import AssayKit

/// A suite of promises, such as ``StateStoreSuite``, as one that `assay conformance` can run.
public struct PromiseSuite: SeparableSuite {
    /// `store`, `sink` or `vault`.
    public let kind: PluginKind
    /// The scheme of the plugin.
    public let name: String
    private let version: String
    private let promises: [SuiteCheck]
    private let patience: SuiteCheck.Patience

    /// The checks of a state store; its scheme names it.
    public init(_ scheme: String, version: String, _ suite: StateStoreSuite) {
        self.init(.store, scheme, version, suite.checks, suite.patience)
    }

    /// The checks of a sink for decisions; its scheme names it.
    public init(_ scheme: String, version: String, _ suite: DecisionSinkSuite) {
        self.init(.sink, scheme, version, suite.checks, .ofWholeChecks)
    }

    /// The checks of a key vault; its scheme names it.
    public init(_ scheme: String, version: String, _ suite: KeyVaultSuite) {
        self.init(.vault, scheme, version, suite.checks, .ofWholeChecks)
    }

    private init(
        _ kind: PluginKind, _ name: String, _ version: String, _ promises: [SuiteCheck],
        _ patience: SuiteCheck.Patience
    ) {
        self.kind = kind
        self.name = name
        self.version = version
        self.promises = promises
        self.patience = patience
    }

    /// The names of the checks, in their order, and the promise that each one looks at.
    public var checks: [(name: String, rule: String)] { promises.map { ($0.name, $0.rule) } }

    /// Makes some of the checks.
    public func report(
        _ effort: ConformanceEffort, of checks: [String], each: @escaping @Sendable (ConformanceReport.Line) -> Void
    ) async -> ConformanceReport {
        let chosen = promises.filter { promise in checks.contains(where: promise.name.isExactly) }
        let lines = await chosen.lines(effort, patience, each: each)
        return ConformanceReport(kind, name, version: version, effort: effort, lines: lines)
    }
}
