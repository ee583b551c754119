internal import AssayCore
internal import AssayHosting
internal import AssayKit

/// The checks with hostile evidence.
struct ProviderEvidence<Provider: AttestationProvider>: Sendable {
    let suite: AttestationProviderSuite<Provider>
    let hostile: HostileFields
    let findings = Findings()

    init(_ suite: AttestationProviderSuite<Provider>, _ effort: ConformanceEffort) {
        self.suite = suite
        hostile = HostileFields(effort: effort)
    }

    typealias Exchange = ProviderSubject.Exchange

    // MARK: - Checks

    @Sendable func genuine(_ run: ConformanceRun) async throws {
        try await forEachExchange(run) { exchange, client in
            for number in 0..<12 {
                let answer = await client.exchange(try await client.body(device: number % 3))
                run.expect(answer.reply.flatMap { client.token(in: $0) } != nil, "genuine evidence: \(answer.words)")
            }
        }
    }

    @Sendable func missingFields(_ run: ConformanceRun) async throws {
        try await forEachExchange(run) { exchange, client in
            for name in try await client.body().members?.map(\.name) ?? [] {
                let members = (try await client.body().members ?? []).filter { !$0.name.isExactly(name) }
                client.refuses(await client.exchange(.object(members)), "without the field \(name)", name, run)
            }
        }
    }

    @Sendable func fieldTypes(_ run: ConformanceRun) async throws {
        try await forEachExchange(run) { exchange, client in
            for name in try await client.body().members?.map(\.name) ?? [] {
                for (what, value) in HostileFields.otherTypes {
                    let body = FieldChange.replacing(
                        [.member(ExactText(name))], in: try await client.body(), { _ in value })
                    guard let body else { continue }
                    client.refuses(await client.exchange(body), "\(what) in the field \(name)", name, run)
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
        try await changes(run) { hostile.oversize($0, limit: Provider.descriptor.limits.evidence) }
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
        try await forEachExchange(run) { exchange, client in
            let texts = FieldChange.texts(of: try await client.body(device: 0))
            guard texts.count > 1 else { return run.skip("its evidence has one part") }
            for text in texts {
                let other = try await client.body(device: 1)
                let own = try await client.body(device: 0)
                var part: JSON?
                _ = FieldChange.replacing(text.path[...], in: other) { value in
                    part = value
                    return value
                }
                guard let part, let body = FieldChange.replacing(text.path[...], in: own, { $0 == part ? nil : part })
                else { continue }
                let name = FieldChange(path: text.path, what: "") { .string($0) }.field
                client.refuses(await client.exchange(body), "the field \(name) of another device", name, run)
            }
        }
    }

    @Sendable func replay(_ run: ConformanceRun) async throws {
        try await forEachExchange(run) { exchange, client in
            if let reason = exchange.reuse { return run.skip(reason) }
            let body = try await client.body()
            let first = await client.exchange(body)
            run.expect(!first.reply.isAbsent, "genuine evidence: \(first.words)")
            client.refuses(await client.exchange(body), "the same evidence once more", nil, run)
            // Of several at the same time one is accepted.
            let again = try await client.body()
            let answers = await withTaskGroup(of: ConformanceBench.Answer.self) { group in
                for _ in 0..<8 { group.addTask { await client.exchange(again) } }
                return await group.reduce(into: [ConformanceBench.Answer]()) { $0.append($1) }
            }
            let accepted = answers.filter { !$0.reply.isAbsent }.count
            run.expect(accepted == 1, "of 8 equal requests at the same time \(accepted) were accepted")
        }
    }

    @Sendable func moved(_ run: ConformanceRun, _ other: TestApp) async throws {
        try await forEachExchange(run) { exchange, client in
            let body = try await client.body()
            let answer = await client.exchange(body, at: other)
            client.refuses(answer, "evidence for another app", nil, run)
        }
    }

    @Sendable func clock(_ run: ConformanceRun) async throws {
        try await forEachExchange(run) { exchange, client in
            guard exchange.lifetime != nil || exchange.challengeMethod != nil else {
                return run.skip(exchange.reuse ?? "its evidence does not end")
            }
            let body = try await client.body()
            let wait = exchange.lifetime ?? .seconds(300)
            client.bench.clock.advance(by: wait + .seconds(61))
            client.refuses(await client.exchange(body), "evidence that is \(wait + .seconds(61)) old", nil, run)
            // The clock of the server is set back: evidence of the future.
            let later = try await client.body()
            client.bench.clock.advance(by: .seconds(-86_400))
            client.refuses(await client.exchange(later), "evidence of the next day", nil, run)
        }
    }

    @Sendable func equalVerdicts(_ run: ConformanceRun) async throws {
        try await forEachExchange(run) { exchange, client in
            for text in FieldChange.texts(of: try await client.body()).prefix(8) {
                let variants = hostile.truncations(text)
                guard let change = variants.dropFirst(variants.count / 2).first else { continue }
                var verdicts: Set<ExactText> = []
                for _ in 0..<6 {
                    guard let body = change.applied(to: try await client.body()) else { continue }
                    verdicts.insert(ExactText(await client.exchange(body).verdict))
                }
                let found = verdicts.map(\.string).sorted().joined(separator: " / ")
                run.expect(verdicts.count <= 1, "the field \(change.field), \(change.what): \(found)")
            }
        }
    }

    // MARK: - Parts

    private func changes(
        _ run: ConformanceRun, _ make: @Sendable ((path: [FieldChange.Step], text: String)) -> [FieldChange]
    ) async throws {
        try await forEachExchange(run) { exchange, client in
            for text in FieldChange.texts(of: try await client.body()) {
                for change in make(text) {
                    let genuine = try await client.body()
                    guard let body = change.applied(to: genuine), body != genuine else { continue }
                    client.refuses(
                        await client.exchange(body), "the field \(change.field), \(change.what)", change.field, run)
                }
            }
        }
    }

    private func forEachExchange(
        _ run: ConformanceRun, _ body: (Exchange, ProviderClient) async throws -> Void
    ) async throws {
        for exchange in suite.subject.exchanges {
            let bench = try suite.bench()
            findings.add(bench)
            try await body(exchange, ProviderClient(bench: bench, exchange: exchange, platform: suite.subject.platform))
            run.count(bench.calls)
        }
    }
}

extension Optional {
    var isAbsent: Bool { if case .none = self { true } else { false } }
}
