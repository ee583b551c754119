internal import AssayAppAttest
internal import AssayCore
internal import AssayDebug
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayServices
internal import AssayTesting

/// Policies of 10,000 apps.
enum PolicyBenchmarks {
    static let all = [Benchmark(names: ["policy.load", "policy.load.reading"], run: load)]

    private static let appCount = 10_000

    /// From the bytes of a policy file to an engine that judges by it, and of that only the reading.
    private static func load(for time: Duration) async throws -> [ReportLine] {
        let files = [PolicyFile(name: "benchmark.yaml", text: policy)]
        let policies = try PolicySet.load(files)
        try BenchmarkFailure.unless(policies.apps.count == appCount, "apps are missing")
        let engine = try Engine(
            registry: Registry([.provider(DebugProvider.self), .provider(AppAttestProvider.self)]), policies: policies,
            keys: .ephemeral(), host: PluginHost(store: MemoryStore(clock: .system), logger: .silent))
        let rates = try await Interleaved.rates(
            [
                Operation { try engine.replacePolicies(.load(files)) },
                Operation { _ = try PolicySet.load(files) },
            ], for: time)
        return [
            ReportLine("policy.load", rate: rates[0], more: [("milliseconds", 1000 / rates[0])]),
            ReportLine("policy.load.reading", rate: rates[1], more: [("milliseconds", 1000 / rates[1])]),
        ]
    }

    private static var policy: String {
        let hash = Hex.encode(DebugToken.hash(of: "a debug token of some length"))
        let apps = (0..<appCount).map { number in
            """
                  - id: 1:1234567890:ios:\(Hex.encode(withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) }))
                    name: Example \(number)
                    apple: {team_id: ABCDE12345, bundle_id: com.example.app\(number)}
                    providers:
                      app_attest: {token_ttl: 1h, environments: [production]}
                      debug: {tokens: [{name: benchmark, sha256: \(hash)}]}

            """
        }
        return """
            projects:
              - number: 1234567890
                id: example-project
                apps:
            \(apps.joined())
            """
    }
}
