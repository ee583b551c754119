internal import AssayCore
internal import AssayKit

/// A request that must be refused, as the checks see it.
enum AdversaryCall: Sendable {
    case call(Reason?, @Sendable (ConformanceHarness, _ number: Int) async throws -> Call)
    case impossible(String)
}

/// The checks with requests that the author's simulator makes wrong in one respect.
struct AdversaryChecks: Sendable {
    let targets: [ConformanceTarget]
    /// The kinds that each target has, or says why not.
    let required: [Adversary]
    let reasons: [Reason]
    let bench: @Sendable () throws -> ConformanceHarness
    let findings: Findings

    /// One check for each kind: the required ones, then the plugin's own by their names.
    var checks: [ConformanceChecks.Named] {
        let named = Set(targets.flatMap(\.adversaries.keys))
        let own = named.subtracting(required).sorted { $0.name.precedesExactly($1.name) }
        return (required + own).map { kind in
            ("adversary-\(kind.name)", kind.rule, { try await check(kind, $0) })
        }
    }

    private func check(_ kind: Adversary, _ run: ConformanceRun) async throws {
        for target in targets {
            switch target.adversaries[kind] {
            case .call(let reason, let make)?: try await attempt(kind, target, reason, make, run)
            case .impossible(let why)?:
                run.expect(!why.isEmpty, "\(target.name) does not say why there is none")
                run.overlook(targets.count == 1 ? why : "\(target.name): \(why)")
            case nil where kind == .otherChallenge && !target.hasChallenge:
                run.skip("its evidence has no challenge")
            case nil:
                run.expect(
                    !required.contains(kind), "\(target.name) has none in its adversaries, and does not say why")
            }
        }
    }

    private func attempt(
        _ kind: Adversary, _ target: ConformanceTarget, _ reason: Reason?,
        _ make: @Sendable (ConformanceHarness, Int) async throws -> Call, _ run: ConformanceRun
    ) async throws {
        let bench = try bench()
        findings.add(bench)
        for number in 0..<2 {
            try run.checkTime()
            let answer = await bench.call(try await make(bench, number))
            run.expect(answer.reply.isAbsent, "\(target.name) accepted it")
            run.expect(
                !answer.reply.isAbsent || !answer.isFault || answer.brokeContract, "\(target.name): \(answer.words)")
            if let failure = answer.failure, !answer.isFault {
                expect(failure, of: kind, reason, "\(target.name): \(answer.words)", run)
            }
        }
        run.count(bench.calls)
    }

    private func expect(
        _ failure: CallFailure, of kind: Adversary, _ reason: Reason?, _ words: String, _ run: ConformanceRun
    ) {
        guard let found = failure.reason else {
            // A reader of the request may refuse a wrong form before the plugin sees it.
            return run.expect(
                kind == .malformed && reason.isAbsent, "refused without a reason that the descriptor declares: \(words)"
            )
        }
        if let reason {
            run.expect(found == reason, "expected the reason \(reason.code), and not \(words)")
        } else {
            run.expect(reasons.contains(found), "the kernel refused it before the plugin could: \(words)")
        }
    }
}
