internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayProcesses
internal import AssayServices
internal import AssayTesting
internal import Logging

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// What it costs that a provider is in a process of its own: whole calls of the engine with 6 KB of evidence, which one provider in this
/// process and one in another refuse.
enum ProcessBenchmarks {
    static let all = [Benchmark(names: ["process.exchange", "process.exchange.load"], run: measure)]

    /// How many callers wait for answers at a time under load.
    private static let callers = 16

    private static func measure(for time: Duration) async throws -> [ReportLine] {
        let executable = CommandLine.arguments[0]
        let folder = executable.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(
            separator: "/")
        let path = try absolute(folder.isEmpty ? "PluginProcess" : "\(folder)/PluginProcess")
        let settings = PluginSettings(kind: .provider, name: "outside", origin: .command(ProcessCommand([path])))
        let processes = await ProcessPlugins.start([settings], logger: .silent)
        do {
            let lines = try await measure(processes, time)
            await processes.stop()
            return lines
        } catch {
            await processes.stop()
            throw error
        }
    }

    private static func absolute(_ path: String) throws -> String {
        guard let found = realpath(path, nil) else { throw BenchmarkFailure("\(path) is missing") }
        defer { free(found) }
        return String(cString: found)
    }

    private static func measure(_ processes: ProcessPlugins, _ time: Duration) async throws -> [ReportLine] {
        let app = "projects/1234567890/apps/1:1234567890:web:321abc456def7890"
        let engine = try Engine(
            registry: Registry(processes.plugins + [.provider(InsideProvider.self)]),
            policies: .load([PolicyFile(name: "benchmark.yaml", text: policy)]), keys: .ephemeral(),
            host: PluginHost(store: MemoryStore(clock: .system), logger: .silent))
        let body: JSON = ["evidence": .string(Base64.encode([UInt8](repeating: 7, count: 6144)))]
        let calls = ["exchangeInside", "exchangeOutside"].map { Call($0, resource: app, body: body) }
        for call in calls {
            guard case .failure(let failure) = await engine.handle(call).result,
                failure.status == .permissionDenied
            else { throw BenchmarkFailure("\(call.method) does not refuse") }
        }
        let alone = try await times(engine, calls, callers: 1, time)
        let loaded = try await times(engine, calls, callers: callers, time)
        return [line("process.exchange", alone), line("process.exchange.load", loaded)]
    }

    /// The times of both calls in microseconds, sorted; measured by turns.
    private static func times(
        _ engine: Engine, _ calls: [Call], callers: Int, _ time: Duration
    ) async throws -> [[Double]] {
        var all: [[Double]] = calls.map { _ in [] }
        let end = ContinuousClock.now + time * 2
        while ContinuousClock.now < end {
            for (index, call) in calls.enumerated() {
                let slice = ContinuousClock.now + .milliseconds(100)
                all[index] += await withTaskGroup { group in
                    for _ in 0..<callers {
                        group.addTask {
                            var times: [Double] = []
                            while ContinuousClock.now < slice {
                                let start = ContinuousClock.now
                                _ = await engine.handle(call)
                                times.append((ContinuousClock.now - start) / .microseconds(1))
                            }
                            return times
                        }
                    }
                    return await group.reduce(into: []) { $0 += $1 }
                }
            }
        }
        return all.map { $0.sorted() }
    }

    private static func line(_ name: String, _ times: [[Double]]) -> ReportLine {
        func quantile(_ part: Double, _ times: [Double]) -> Double { times[Int(Double(times.count - 1) * part)] }
        let (inside, outside) = (times[0], times[1])
        return ReportLine(
            name, rate: 1_000_000 / quantile(0.5, outside),
            more: [
                ("inside_median_microseconds", quantile(0.5, inside)),
                ("outside_median_microseconds", quantile(0.5, outside)),
                ("overhead_median_microseconds", quantile(0.5, outside) - quantile(0.5, inside)),
                ("overhead_p99_microseconds", quantile(0.99, outside) - quantile(0.99, inside)),
            ])
    }

    private static let policy = """
        tokens: {algorithm: ES256}
        projects:
          - number: 1234567890
            id: example-project
            apps:
              - {id: "1:1234567890:web:321abc456def7890", providers: {inside: {}, outside: {}}}
        """
}

/// The same provider in this process.
private struct InsideProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    struct Request: RequestMessage {
        let evidence: [UInt8]

        init(_ fields: RequestFields) throws(InvalidRequest) {
            evidence = try fields.bytes("evidence")
        }
    }

    private static let refused = Reason("inside_refused", "It is evidence, which is refused.")
    static let descriptor = PluginDescriptor.provider(
        name: "inside", summary: "Refuses all evidence.", reasons: [refused], execution: .shared)
    static let methods: [ProviderMethod<InsideProvider>] = [
        .exchange("exchangeInside") { (_, request: Request, _) in .refused(refused) }
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
}
