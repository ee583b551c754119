internal import AssayCore
internal import AssayHosting
internal import AssayKit
internal import Synchronization

/// The checks in which something around the provider fails.
struct ProviderFaults<Provider: AttestationProvider>: Sendable {
    let suite: AttestationProviderSuite<Provider>
    let findings = Findings()

    /// The engine's own limit, and what the suite's clock may go beyond it.
    private static var timeLimit: Duration { .seconds(12) }

    init(_ suite: AttestationProviderSuite<Provider>) {
        self.suite = suite
    }

    @Sendable func upstream(_ run: ConformanceRun, _ moods: [ConformanceUpstream.Mood]) async throws {
        guard suite.subject.upstream != nil else { return run.skip("it calls no other server") }
        try await forEachExchange(run) { client in
            for mood in moods {
                // Each on a server of its own: what was learned of one that fails is not held against the next.
                let client = try fresh(client)
                let body = try await client.body()
                let before = client.bench.upstream.requests
                client.bench.upstream.mood = mood
                let answer = await client.exchange(body, ticking: true)
                let asked = client.bench.upstream.requests - before
                if asked == 0 { continue }
                run.expect(answer.reply == nil, "a token with \(mood.words)")
                run.expect(answer.result != nil, "no answer with \(mood.words)")
                run.expect(
                    answer.took <= Self.timeLimit, "\(mood.words) took \(answer.took), and a call may take 10 s")
                if !mood.mayBeRefused {
                    run.expect(answer.isFault, "\(mood.words) was taken for bad evidence: \(answer.words)")
                }
                run.expect(
                    asked <= Provider.descriptor.limits.outboundCalls,
                    "\(asked) requests in a call, and the descriptor says \(Provider.descriptor.limits.outboundCalls)")
                run.count(client.bench.calls)
            }
        }
    }

    @Sendable func lostStore(_ run: ConformanceRun) async throws {
        try await forEachExchange(run) { client in
            // The kernel's own first look at the state is over then.
            _ = await client.exchange(try await client.body())
            let body = try await client.body()
            client.bench.store.isFailing = true
            let answer = await client.exchange(body)
            client.bench.store.isFailing = false
            // Without a challenge and without state of its own a provider can decide.
            let needsNone =
                client.exchange.challengeMethod == nil && answer.reply != nil && client.exchange.reuse != nil
            run.expect(answer.isFault || needsNone, "without the store: \(answer.words)")
            let after = await client.exchange(try await client.body())
            run.expect(after.reply != nil, "genuine evidence, once the store is back: \(after.words)")
        }
    }

    @Sendable func cancellation(_ run: ConformanceRun) async throws {
        try await forEachExchange(run) { client in
            for delay in 0..<12 {
                let body = try await client.body(device: delay)
                let call = Task { await client.exchange(body) }
                for _ in 0..<delay { await Task.yield() }
                call.cancel()
                run.expect(await call.value.result != nil, "a cancelled call got no answer")
            }
            let answer = await client.exchange(try await client.body())
            run.expect(answer.reply != nil, "genuine evidence after cancelled calls: \(answer.words)")
        }
    }

    @Sendable func concurrency(_ run: ConformanceRun) async throws {
        try await forEachExchange(run) { client in
            let bodies = SharedList<JSON>()
            for number in 0..<24 { bodies.append(try await client.body(device: number)) }
            let over = Flag()
            let bench = client.bench
            let reloads = Task {
                var count = 0
                while !over.isSet, count < 50 {
                    try bench.reload()
                    count += 1
                    await Task.yield()
                }
            }
            await withTaskGroup(of: ConformanceBench.Answer.self) { group in
                for body in bodies.all { group.addTask { await client.exchange(body) } }
                for await answer in group {
                    run.expect(answer.reply != nil, "genuine evidence beside other calls: \(answer.words)")
                }
            }
            over.set()
            try await reloads.value
        }
    }

    // MARK: - Parts

    private func forEachExchange(_ run: ConformanceRun, _ body: (ProviderClient) async throws -> Void) async throws {
        for exchange in suite.subject.exchanges {
            let client = ProviderClient(
                bench: try suite.bench(), exchange: exchange, platform: suite.subject.platform)
            findings.add(client.bench)
            try await body(client)
            run.count(client.bench.calls)
        }
    }

    private func fresh(_ client: ProviderClient) throws -> ProviderClient {
        let bench = try suite.bench()
        findings.add(bench)
        return ProviderClient(bench: bench, exchange: client.exchange, platform: client.platform)
    }
}

/// Something that happened, for tasks that wait for it.
final class Flag: Sendable {
    private let state = Mutex(false)

    var isSet: Bool { state.withLock { $0 } }

    func set() { state.withLock { $0 = true } }
}

extension ConformanceUpstream.Mood {
    /// For findings.
    var words: String {
        switch self {
        case .genuine: "a genuine server"
        case .dead: "a dead server"
        case .slow: "a server that does not answer"
        case .huge: "an answer without end"
        case .lying(let response):
            ConformanceUpstream.lies.first { $0.response == response }.map { "a server that answers with \($0.what)" }
                ?? "a lying server"
        }
    }

    /// Whether what the server says could be a refusal.
    var mayBeRefused: Bool { if case .lying = self { true } else { false } }
}
