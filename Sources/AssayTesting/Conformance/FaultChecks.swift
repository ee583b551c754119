internal import AssayCore
internal import AssayKit

/// The checks in which something around a plugin fails.
struct FaultChecks: Sendable {
    let targets: [ConformanceTarget]
    let bench: @Sendable () throws -> ConformanceHarness
    /// The descriptor's limit of calls to other servers in one call.
    let outboundCalls: Int
    /// Whether the plugin calls other servers.
    let hasUpstream: Bool
    /// What the servers say to a request that they deny; `noDenials` is why there is none.
    var denials: [UpstreamDenial] = []
    var noDenials: String?
    /// What the servers say when nothing is to be decided.
    var undecided: [UpstreamDenial] = []
    /// Members of their answers that nothing relies on.
    var optionalMembers: [String: String] = [:]
    /// The declared reasons.
    var reasons: [Reason] = []
    /// Whether what needs no store may be decided without it.
    var mayDecideWithoutStore = false
    let findings: Findings

    /// A response of another server that no plugin needs to have in memory.
    private static let largestResponse = 4 << 20
    /// The engine's own limit, and what the suite's clock may go beyond it.
    private static let timeLimit = Duration.seconds(12)

    func upstream(_ moods: [ConformanceUpstream.Mood]) -> ConformanceChecks.Check {
        { run in
            guard hasUpstream else { return run.skip("it calls no other server") }
            for target in targets {
                // Each on a bench of its own: what was learned of one server is not held against the next.
                for mood in moods { try await upstream(mood, target, run) }
            }
        }
    }

    private func upstream(
        _ mood: ConformanceUpstream.Mood, _ target: ConformanceTarget, _ run: ConformanceRun
    ) async throws {
        let client = try client(target, run)
        let call = try await client.genuine()
        let before = client.bench.upstream.requests
        client.bench.upstream.mood = mood
        let answer = await client.send(call, ticking: true)
        run.count(client.bench.calls)
        let asked = client.bench.upstream.requests - before
        // What needs no other server is decided as ever.
        guard asked > 0, !client.bench.upstream.saidTheTruth else { return }
        let what = "\(target.name), \(mood.words)"
        run.expect(answer.reply.isAbsent, "\(what): accepted")
        run.expect(!answer.result.isAbsent, "\(what): no answer")
        run.expect(answer.took <= Self.timeLimit, "\(what): took \(answer.took), and a call may take 10 s")
        run.expect(answer.isFault || mayRefuse(mood), "\(what): taken for bad evidence: \(answer.words)")
        run.expect(
            asked <= outboundCalls, "\(what): \(asked) requests in a call, and the descriptor says \(outboundCalls)")
        let most = client.bench.upstream.largestResponse
        run.expect(
            most <= Self.largestResponse,
            "\(what): reads responses of up to \(most) bytes; \(Self.largestResponse) would be much")
    }

    /// Whether a refusal of the client is a right answer.
    private func mayRefuse(_ mood: ConformanceUpstream.Mood) -> Bool {
        if case .echoing = mood { return true }
        guard case .lying(let response) = mood else { return false }
        // The operator's credentials or quota, or a server that is down, unless it says its genuine "no" so.
        guard [401, 403, 429].contains(response.status) || response.status >= 500 else { return true }
        return denials.contains { $0.response.status == response.status }
    }

    /// What only resembles a genuine answer.
    @Sendable func almostGenuine(_ run: ConformanceRun) async throws {
        guard hasUpstream else { return run.skip("it calls no other server") }
        for target in targets {
            let model = try client(target, run)
            model.accepts(await model.send(try await model.genuine()), "as it should be", run)
            let alterations = AnswerAlteration.all(
                of: model.bench.upstream.genuineBodies, except: optionalMembers)
            for alteration in alterations {
                let client = try client(target, run)
                let call = try await client.genuine()
                client.bench.upstream.mood = .altered(alteration)
                let answer = await client.send(call, ticking: true)
                run.count(client.bench.calls)
                guard client.bench.upstream.hasAltered else { continue }
                run.expect(
                    answer.reply.isAbsent,
                    "\(target.name): accepted after \(alteration.words); what nothing relies on is listed in `optionalMembers`"
                )
            }
        }
    }

    /// What a server says when it cannot decide, such as that the operator's secret is wrong.
    @Sendable func undecided(_ run: ConformanceRun) async throws {
        guard hasUpstream else { return run.skip("it calls no other server") }
        guard !undecided.isEmpty else {
            return run.overlook("no answer after which nothing is to be decided is named in `undecided`")
        }
        for answer in undecided {
            for target in targets { try await upstream(.denying(answer), target, run) }
        }
    }

    /// A genuine "no" of the other server.
    @Sendable func upstreamNo(_ run: ConformanceRun) async throws {
        guard hasUpstream else { return run.skip("it calls no other server") }
        if denials.isEmpty {
            run.expect(
                !(noDenials ?? "").isEmpty,
                "no response says that the servers deny a request, in `denials`, and `noDenials` does not say why")
            return run.overlook(noDenials ?? "")
        }
        for denial in denials {
            for target in targets {
                let client = try client(target, run)
                let call = try await client.genuine()
                let before = client.bench.upstream.requests
                client.bench.upstream.mood = .denying(denial)
                let answer = await client.send(call, ticking: true)
                run.count(client.bench.calls)
                guard client.bench.upstream.requests > before else { continue }
                let what = "\(target.name), a server that says \(denial.what)"
                run.expect(answer.reply.isAbsent, "\(what): accepted")
                run.expect(!answer.isFault || answer.brokeContract, "\(what): \(answer.words)")
                let reason = answer.failure?.reason
                run.expect(
                    !answer.reply.isAbsent || answer.isFault || reason.map { reasons.contains($0) } ?? false,
                    "\(what): refused without a reason that the descriptor declares: \(answer.words)")
            }
        }
    }

    @Sendable func lostStore(_ run: ConformanceRun) async throws {
        for target in targets {
            let client = try client(target, run)
            // The kernel's own first look at the state is over then.
            client.accepts(await client.send(try await client.genuine()), "as it should be", run)
            let call = try await client.genuine()
            client.bench.store.isFailing = true
            let answer = await client.send(call)
            client.bench.store.isFailing = false
            // Without a challenge and without state of its own a plugin can decide.
            let needsNone =
                !answer.reply.isAbsent && (mayDecideWithoutStore || !target.hasChallenge && !target.reuse.isAbsent)
            run.expect(answer.isFault || needsNone, "\(target.name), without the store: \(answer.words)")
            client.accepts(await client.send(try await client.genuine()), "once the store is back", run)
            run.count(client.bench.calls)
        }
    }

    /// - Parameter restart: kills the plugin's process, and returns when another one is ready.
    func restart(_ restart: @escaping @Sendable () async throws -> Void) -> ConformanceChecks.Check {
        { run in
            for target in targets {
                let client = try client(target, run)
                let call = try await client.genuine()
                client.accepts(await client.send(call), "before its process was killed", run)
                try await restart()
                client.accepts(await client.send(try await client.genuine()), "in the next process", run)
                if target.reuse.isAbsent {
                    let again = await client.send(call)
                    run.expect(again.reply.isAbsent, "\(target.name): the next process accepted what was used before")
                }
                run.count(client.bench.calls)
            }
        }
    }

    @Sendable func cancellation(_ run: ConformanceRun) async throws {
        for target in targets {
            let client = try client(target, run)
            for delay in 0..<12 {
                let made = try await client.genuine(delay)
                let call = Task { await client.send(made) }
                for _ in 0..<delay { await Task.yield() }
                call.cancel()
                run.expect(!(await call.value.result.isAbsent), "\(target.name): a cancelled call got no answer")
            }
            client.accepts(await client.send(try await client.genuine()), "after cancelled calls", run)
            run.count(client.bench.calls)
        }
    }

    @Sendable func concurrency(_ run: ConformanceRun) async throws {
        for target in targets {
            let client = try client(target, run)
            let calls = SharedList<Call>()
            for number in 0..<24 { calls.append(try await client.genuine(number)) }
            let (bench, over) = (client.bench, Flag())
            let reloads = Task {
                for _ in 0..<50 where !over.isSet {
                    try bench.reload()
                    await Task.yield()
                }
            }
            await withTaskGroup(of: ConformanceHarness.Answer.self) { group in
                for call in calls.all { group.addTask { await client.send(call) } }
                for await answer in group { client.accepts(answer, "beside other calls", run) }
            }
            over.set()
            try await reloads.value
            run.count(client.bench.calls)
        }
    }

    private func client(_ target: ConformanceTarget, _ run: ConformanceRun) throws -> ConformanceClient {
        let bench = try bench()
        findings.add(bench)
        return ConformanceClient(bench: bench, target: target, run: run)
    }
}

extension ConformanceUpstream.Mood {
    /// For findings.
    fileprivate var words: String {
        switch self {
        case .genuine: "a genuine server"
        case .dead: "a dead server"
        case .slow: "a server that does not answer"
        case .huge: "an answer without end"
        case .lying(let response):
            ConformanceUpstream.lies.first { $0.response == response }.map { "a server that answers with \($0.what)" }
                ?? "a lying server"
        case .denying(let denial): "a server that says \(denial.what)"
        case .altered(let alteration): "a server with \(alteration.words)"
        case .echoing: "a server that refuses, and repeats the request"
        }
    }
}
