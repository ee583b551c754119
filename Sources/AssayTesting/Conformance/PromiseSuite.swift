internal import AssayCore
public import AssayKit

/// A suite of promises, such as ``StateStoreSuite``, as one that `assay conformance` can run.
public struct PromiseSuite: ConformanceSuite {
    /// `store`, `sink` or `vault`.
    public let kind: PluginKind
    /// The scheme of the plugin.
    public let name: String
    private let version: String
    private let promises: [String]
    private let run: @Sendable () async -> [SuiteFailure]

    /// The checks of a state store; its scheme names it.
    public init(_ scheme: String, version: String, _ suite: StateStoreSuite) {
        self.init(.store, scheme, version, StateStoreSuite.promises) { await suite.run() }
    }

    /// The checks of a sink for decisions; its scheme names it.
    public init(_ scheme: String, version: String, _ suite: DecisionSinkSuite) {
        self.init(.sink, scheme, version, DecisionSinkSuite.promises) { await suite.run() }
    }

    /// The checks of a key vault; its scheme names it.
    public init(_ scheme: String, version: String, _ suite: KeyVaultSuite) {
        self.init(.vault, scheme, version, KeyVaultSuite.promises) { await suite.run() }
    }

    private init(
        _ kind: PluginKind, _ name: String, _ version: String, _ promises: [String],
        _ run: @escaping @Sendable () async -> [SuiteFailure]
    ) {
        self.kind = kind
        self.name = name
        self.version = version
        self.promises = promises
        self.run = run
    }

    /// Runs all checks; they are the same for every effort.
    public func report(_ effort: ConformanceEffort) async -> ConformanceReport {
        let failures = await run()
        let kind =
            switch kind {
            case .store: "StateStoreSuite"
            case .vault: "KeyVaultSuite"
            default: "DecisionSinkSuite"
            }
        let lines = promises.map { promise in
            let found = failures.filter { $0.promise.isExactly(promise) }.map(\.detail)
            return ConformanceReport.Line(
                promise, "see `\(kind)`", found.isEmpty ? .passed(calls: 0) : .failed(found))
        }
        return ConformanceReport(self.kind, name, version: version, effort: effort, lines: lines)
    }
}
