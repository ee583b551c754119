internal import AssayCore
internal import AssayCrypto
internal import AssayKit

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
internal import SwiftOverlayShims
#endif

/// The process that checks are made in.
package enum ConformanceProcess {
    /// Whether nothing else runs in it, so that what it uses is the plugin's: the environment has `ASSAY_CONFORMANCE_ALONE=1`.
    @TaskLocal package static var isAlone = getenv("ASSAY_CONFORMANCE_ALONE") != nil

    /// What is not looked at where other work shares the process.
    static let shared =
        "what calls cost: other work may share this process. The command `conformance` of a server looks at it, and so does a test alone "
        + "with ASSAY_CONFORMANCE_ALONE=1"
}

/// The checks of what a call costs.
///
/// Other work of the machine and of the process makes single measurements useless: each check
/// measures several times, and is content when most calls keep the limit.
struct CostChecks: Sendable {
    let targets: [ConformanceTarget]
    let bench: @Sendable () throws -> ConformanceHarness
    let limits: PluginLimits
    let findings: Findings

    private static let measurements = 7
    /// What a call alone may wait although nothing that it waits for is slow.
    private static let idle = Duration.milliseconds(400)
    /// The engine's own limit of a call.
    private static let longestCall = Duration.seconds(10)

    /// What one call took.
    private struct Cost {
        /// Real time.
        let time: Duration
        /// On a processor: at most `time`, since calls compute on one thread, and other threads of the process count too.
        let computing: Duration
    }

    @Sendable func time(_ run: ConformanceRun) async throws {
        guard ConformanceProcess.isAlone else { return run.overlook(ConformanceProcess.shared) }
        for target in targets {
            let client = try client(target, run)
            defer { run.count(client.bench.calls) }
            // Without the plugin.
            let nothing = Call("conformanceOfNothing", resource: TestApp.first.resource())
            var bases: [Duration] = []
            for _ in 0..<5 { bases.append(await cost(client, nothing).time) }
            let noise = median(bases) * 8
            _ = await client.send(try await client.genuine())
            var costs: [Cost] = []
            for number in 0..<Self.measurements {
                costs.append(await cost(client, try await client.genuine(number % 3)))
            }
            let computing = median(costs.map(\.computing))
            run.expect(
                computing <= limits.cpuTime * 2 + .milliseconds(100),
                "\(target.name) computes for \(computing), and the descriptor says \(limits.cpuTime)")
            let time = median(costs.map(\.time))
            let longest = limits.time ?? Self.longestCall
            run.expect(
                time <= longest + longest / 2 + .milliseconds(300) + noise,
                "\(target.name) takes \(time), and the descriptor says \(longest)")
            let idle = median(costs.map { $0.time - $0.computing })
            run.expect(
                idle <= Self.idle + noise,
                "\(target.name) waits for \(idle) while store, servers and clock are at once: it blocks, or waits beside the host"
            )
        }
    }

    @Sendable func memory(_ run: ConformanceRun) async throws {
        guard ConformanceProcess.isAlone else { return run.overlook(ConformanceProcess.shared) }
        guard !ProcessUsage.residentBytes.isAbsent else {
            return run.overlook("the memory of the process, which this system does not say")
        }
        // Evidence that is refused, as a stranger sends it: as large as the plugin reads it, each time another one.
        let size = limits.evidence / 3
        let count = min(max(1 << 19 / max(size, 1), 32), 64)
        for target in targets {
            let client = try client(target, run)
            defer { run.count(client.bench.calls) }
            let genuine = try await client.genuine()
            let texts = FieldChange.texts(of: genuine.body)
            guard let largest = texts.max(by: { $0.text.utf8.count < $1.text.utf8.count }) else { continue }
            _ = try await growth(client, genuine, largest.path, count, of: size)
            var least = Int.max
            let most = count * size / 10 * 9
            // Of a plugin that keeps what it reads, the process grows in each round; other work ends at some time.
            for _ in 0..<4 where least >= most {
                let small = try await growth(client, genuine, largest.path, count, of: 24)
                let large = try await growth(client, genuine, largest.path, count, of: size)
                least = min(least, large - small)
            }
            run.expect(
                least < most,
                "\(target.name): the process grows by \(least / 1024) KiB in \(count) refused calls of \(size) bytes, each time"
            )
        }
    }

    /// By how many bytes the process grows while evidence of a size is refused.
    private func growth(
        _ client: ConformanceClient, _ genuine: Call, _ path: [FieldChange.Step], _ count: Int, of size: Int
    ) async throws -> Int {
        let before = ProcessUsage.residentBytes ?? 0
        for _ in 0..<count {
            try client.run.checkTime()
            let text = JSON.string(Base64.encode(Randomness.system.bytes(size)))
            // With a challenge that failed before, the plugin would not be asked.
            let call = client.target.hasChallenge ? try await client.genuine() : genuine
            guard let body = FieldChange.replacing(path[...], in: call.body, { _ in text }) else { continue }
            _ = await client.send(call, body: body)
        }
        return (ProcessUsage.residentBytes ?? 0) - before
    }

    private func cost(_ client: ConformanceClient, _ call: Call) async -> Cost {
        let (computed, start) = (ProcessUsage.processorTime, ContinuousClock.now)
        _ = await client.send(call)
        let time = ContinuousClock.now - start
        return Cost(time: time, computing: min(ProcessUsage.processorTime - computed, time))
    }

    private func median(_ values: [Duration]) -> Duration {
        let sorted = values.sorted()
        return sorted.isEmpty ? .zero : sorted[sorted.count / 2]
    }

    private func client(_ target: ConformanceTarget, _ run: ConformanceRun) throws -> ConformanceClient {
        let bench = try bench()
        findings.add(bench)
        return ConformanceClient(bench: bench, target: target, run: run)
    }
}
