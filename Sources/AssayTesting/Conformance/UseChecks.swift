internal import AssayCore
internal import AssayKit

/// The checks of how long, and where, used evidence stays used.
struct UseChecks: Sendable {
    let targets: [ConformanceTarget]
    let bench: @Sendable () throws -> ConformanceHarness
    let findings: Findings

    /// After which times used evidence is sent once more: around the times that plugins and the kernel count with.
    private static let waits: [Int64] = [
        29, 59, 89, 119, 149, 239, 299, 359, 599, 899, 3599, 86_399, 604_799,
    ]

    /// Used evidence is refused at any later time: also that of a device whose clock was ahead.
    @Sendable func later(_ run: ConformanceRun) async throws {
        for target in targets {
            if let reason = target.reuse {
                run.skip(reason)
                continue
            }
            for ahead in [0, 50] as [Int64] where ahead == 0 || !target.early.isAbsent {
                try await later(target, ahead: .seconds(ahead), run)
            }
        }
    }

    private func later(_ target: ConformanceTarget, ahead: Duration, _ run: ConformanceRun) async throws {
        let waits = Self.waits.filter { .seconds($0) <= target.remembered ?? .seconds($0) }
        if let remembered = target.remembered {
            run.overlook("used evidence after \(remembered.components.seconds) s, which others end")
        }
        let client = try client(target, run)
        defer { run.count(client.bench.calls) }
        var used: [Call] = []
        for number in waits.indices {
            try run.checkTime()
            let early = ahead == .zero ? nil : target.early
            // A call before, such as an attestation, may be refused as well.
            let made = early.isAbsent ? nil : try? await early?(client.bench, number % 3, ahead)
            if made.isAbsent, !early.isAbsent { return }
            let call = if let made { made } else { try await client.genuine(number % 3) }
            // Whether evidence of a clock that is ahead is good is the plugin's own matter.
            guard !(await client.send(call)).reply.isAbsent else { return }
            used.append(call)
        }
        var passed: Int64 = 0
        for (wait, call) in zip(waits, used) {
            try run.checkTime()
            client.bench.clock.advance(by: .seconds(wait - passed))
            passed = wait
            // Another server remembers nothing but the state.
            let server = try client.bench.anotherServer()
            findings.add(server)
            let answer = await ConformanceClient(bench: server, target: target, run: run).send(call)
            let words = ahead == .zero ? "" : " of a device whose clock was \(ahead) ahead"
            client.refuses(answer, "used evidence\(words) after \(wait) s", nil, run)
            run.count(server.calls)
        }
    }

    /// Used evidence is refused where nobody knows that it was used: the state was lost, and begins anew.
    @Sendable func newState(_ run: ConformanceRun) async throws {
        for target in targets {
            if let reason = target.reuse {
                run.skip(reason)
                continue
            }
            if let reason = target.untimed {
                run.overlook("used evidence after the state was lost: \(reason)")
                continue
            }
            let client = try client(target, run)
            defer { run.count(client.bench.calls) }
            for number in 0..<3 {
                let call = try await client.genuine(number)
                client.accepts(await client.send(call), "as it should be", run)
                client.bench.clock.advance(by: .seconds(1))
                let server = try client.bench.anotherServer(state: MemoryStore(clock: client.bench.clock.hostClock))
                findings.add(server)
                let answer = await ConformanceClient(bench: server, target: target, run: run).send(call)
                client.refuses(answer, "used evidence after the state was lost", nil, run)
                run.count(server.calls)
            }
        }
    }

    /// Evidence that is good for several apps of a project is used in all of them at once.
    @Sendable func inProject(_ run: ConformanceRun) async throws {
        for target in targets {
            if let reason = target.reuse {
                run.skip(reason)
                continue
            }
            guard !target.sharing.isAbsent else {
                run.skip("its evidence is good for one app")
                continue
            }
            let client = try client(target, run)
            defer { run.count(client.bench.calls) }
            for number in 0..<3 {
                let call = try await client.genuine(number)
                client.accepts(await client.send(call), "as it should be", run)
                client.refuses(
                    await client.send(target.moved(call, .second)), "evidence that another app of the project used",
                    nil, run)
            }
        }
    }

    private func client(_ target: ConformanceTarget, _ run: ConformanceRun) throws -> ConformanceClient {
        let bench = try bench()
        findings.add(bench)
        return ConformanceClient(bench: bench, target: target, run: run)
    }
}
