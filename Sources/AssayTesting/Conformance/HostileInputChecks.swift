internal import AssayCore
internal import AssayKit

/// The checks with input that no genuine client sends.
struct HostileInputChecks: Sendable {
    let targets: [ConformanceTarget]
    let bench: @Sendable () throws -> ConformanceHarness
    /// The descriptor's limit of a request in bytes.
    let limit: Int
    let hostile: HostileFields
    let findings: Findings

    @Sendable func genuine(_ run: ConformanceRun) async throws {
        try await forEachTarget(run) { client in
            for number in 0..<12 {
                client.accepts(await client.send(try await client.genuine(number % 3)), "as it should be", run)
            }
            for variant in client.target.variants {
                try run.checkTime()
                client.accepts(await client.send(try await variant.call(client.bench, 0)), variant.name, run)
            }
        }
    }

    @Sendable func missingFields(_ run: ConformanceRun) async throws {
        try await forEachTarget(run) { client in
            for name in try await names(client) {
                let call = try await client.genuine()
                let members = (call.body.members ?? []).filter { !$0.name.isExactly(name) }
                client.refuses(
                    await client.send(call, body: .object(members)), "a request without the field \(name)", name, run)
            }
        }
    }

    @Sendable func fieldTypes(_ run: ConformanceRun) async throws {
        try await forEachTarget(run) { client in
            for name in try await names(client) {
                for (what, value) in HostileFields.otherTypes {
                    let call = try await client.genuine()
                    let body = FieldChange.replacing([.member(ExactText(name))], in: call.body) { _ in value }
                    guard let body else { continue }
                    client.refuses(await client.send(call, body: body), "\(what) in the field \(name)", name, run)
                }
            }
        }
    }

    @Sendable func truncation(_ run: ConformanceRun) async throws {
        try await changes(run) { hostile.truncations($0) + hostile.extensions($0) }
    }

    @Sendable func bitFlips(_ run: ConformanceRun) async throws {
        try await changes(run) { hostile.bitFlips($0) }
    }

    @Sendable func oversize(_ run: ConformanceRun) async throws {
        try await changes(run) { hostile.oversize($0, limit: limit) }
    }

    @Sendable func hostileText(_ run: ConformanceRun) async throws {
        try await changes(run) { text in
            HostileFields.texts.map { hostile in
                FieldChange(path: text.path, what: "the text \(hostile.prefix(24).debugDescription)") { _ in
                    .string(hostile)
                }
            }
        }
    }

    @Sendable func splices(_ run: ConformanceRun) async throws {
        try await forEachTarget(run) { client in
            let texts = FieldChange.texts(of: try await client.genuine().body)
            guard texts.count > 1 else { return run.skip("its evidence has one part") }
            for text in texts {
                let other = try await client.genuine(1).body
                let call = try await client.genuine(0)
                guard let part = FieldChange.value(at: text.path[...], in: other),
                    let body = FieldChange.replacing(text.path[...], in: call.body, { $0 == part ? nil : part })
                else { continue }
                let field = FieldChange.field(of: text.path)
                client.refuses(await client.send(call, body: body), "the field \(field) of another device", field, run)
            }
        }
    }

    @Sendable func replay(_ run: ConformanceRun) async throws {
        try await forEachTarget(run) { client in
            if let reason = client.target.reuse { return run.skip(reason) }
            let call = try await client.genuine()
            client.accepts(await client.send(call), "as it should be", run)
            client.refuses(await client.send(call), "the same evidence once more", nil, run)
            // Of several at the same time one is accepted.
            let again = try await client.genuine()
            let accepted = await withTaskGroup(of: ConformanceHarness.Answer.self) { group in
                for _ in 0..<8 { group.addTask { await client.send(again) } }
                return await group.reduce(into: 0) { $0 += $1.reply.isAbsent ? 0 : 1 }
            }
            run.expect(accepted == 1, "of 8 equal requests at the same time \(accepted) were accepted")
            try await replayElsewhere(client, run)
        }
    }

    /// Sends evidence that one server accepted to others, which remember nothing but the state.
    private func replayElsewhere(_ client: ConformanceClient, _ run: ConformanceRun) async throws {
        func another(behind: Duration = .zero) throws -> ConformanceClient {
            let server = try client.bench.anotherServer(behind: behind)
            findings.add(server)
            return ConformanceClient(bench: server, target: client.target, run: run)
        }
        let (second, third) = (try another(), try another())
        var used: [Call] = []
        for number in 0..<8 {
            let call = try await client.genuine(number % 3)
            client.accepts(await client.send(call), "as it should be", run)
            client.refuses(await second.send(call), "the same evidence once more, at a second server", nil, run)
            used.append(call)
        }
        // Clocks of servers differ by up to a minute. Whether this one decides otherwise is its own matter, but what it
        // uses up must last as long as the challenge: otherwise the call breaks the contract.
        let slow = try another(behind: .seconds(50))
        _ = await slow.send(try await client.genuine(0))
        // Evidence with a challenge is good as long as its challenge at most.
        let lifetime = client.target.lifetime ?? .seconds(300)
        let wait = (client.target.hasChallenge ? min(lifetime, .seconds(300)) : lifetime) - .seconds(1)
        client.bench.clock.advance(by: wait)
        for call in used {
            client.refuses(
                await third.send(call), "the same evidence once more, at another server after \(wait)", nil, run)
        }
        run.count(second.bench.calls + third.bench.calls + slow.bench.calls)
    }

    func moved(to app: TestApp) -> ConformanceChecks.Check {
        { run in
            try await forEachTarget(run) { client in
                if let reason = client.target.sharing { return run.skip(reason) }
                let call = client.target.moved(try await client.genuine(), app)
                client.refuses(await client.send(call), "evidence for another app", nil, run)
                // The kernel refuses that by its challenge. With the other app's challenge the provider must.
                guard let crossed = try await client.target.crossed?(client.bench, app) else { return }
                client.refuses(
                    await client.send(crossed), "evidence of another app's device for the app's own challenge", nil, run
                )
            }
        }
    }

    @Sendable func clock(_ run: ConformanceRun) async throws {
        try await forEachTarget(run) { client in
            guard !client.target.lifetime.isAbsent || client.target.hasChallenge else {
                return run.skip(client.target.reuse ?? "its evidence does not end")
            }
            let call = try await client.genuine()
            // The kernel's challenges end after five minutes.
            let wait = (client.target.lifetime ?? .seconds(300)) + .seconds(61)
            client.bench.clock.advance(by: wait)
            client.refuses(await client.send(call), "evidence that is \(wait) old", nil, run)
            let later = try await client.genuine()
            client.bench.clock.advance(by: .seconds(-86_400))
            client.refuses(await client.send(later), "evidence of the next day", nil, run)
        }
    }

    @Sendable func equalVerdicts(_ run: ConformanceRun) async throws {
        try await forEachTarget(run) { client in
            for text in FieldChange.texts(of: try await client.genuine().body).prefix(8) {
                let variants = hostile.truncations(text)
                guard let change = variants.dropFirst(variants.count / 2).first else { continue }
                var verdicts: Set<ExactText> = []
                for _ in 0..<6 {
                    let call = try await client.genuine()
                    guard let body = change.applied(to: call.body) else { continue }
                    verdicts.insert(ExactText(await client.send(call, body: body).verdict))
                }
                let found = verdicts.map(\.string).sorted().joined(separator: " / ")
                run.expect(verdicts.count <= 1, "the field \(change.field), \(change.what): \(found)")
            }
        }
    }

    // MARK: - Parts

    private func names(_ client: ConformanceClient) async throws -> [String] {
        (try await client.genuine().body.members ?? []).map(\.name)
    }

    private func changes(
        _ run: ConformanceRun, _ make: @escaping @Sendable ((path: [FieldChange.Step], text: String)) -> [FieldChange]
    ) async throws {
        try await forEachTarget(run) { client in
            let changes = FieldChange.texts(of: try await client.genuine().body).flatMap(make)
            for change in Self.spread(changes) {
                let call = try await client.genuine()
                guard let body = change.applied(to: call.body), body != call.body else { continue }
                client.refuses(
                    await client.send(call, body: body), "the field \(change.field), \(change.what)", change.field, run)
            }
        }
    }

    /// The same in an order in which each beginning has some of everything, for a check whose time ends.
    private static func spread<Element>(_ elements: [Element]) -> [Element] {
        // Fibonacci hashing.
        elements.enumerated().sorted { UInt32($0.offset) &* 2_654_435_769 < UInt32($1.offset) &* 2_654_435_769 }
            .map(\.element)
    }

    /// Each target has a bench of its own, so that none waits for another one.
    private func forEachTarget(
        _ run: ConformanceRun, _ body: @escaping @Sendable (ConformanceClient) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for target in targets {
                let bench = try bench()
                findings.add(bench)
                group.addTask {
                    defer { run.count(bench.calls) }
                    try await body(ConformanceClient(bench: bench, target: target, run: run))
                }
            }
            // What one threw is thrown when all have ended.
            var failure: (any Error)?
            while let result = await group.nextResult() {
                if case .failure(let error) = result { failure = error }
            }
            if let failure { throw failure }
        }
    }
}
