import AssayCore
import AssayTestSupport
import Foundation
import Testing

/// What tools say of policies is compared with what an engine does: random policies, random requests, random changes.
///
/// `ASSAY_DIFFERENTIAL_SECONDS` says for how long (5 by default). `ASSAY_DIFFERENTIAL_SEED` is the seed of a run, or
/// `random`; without it all runs begin in the same way.
@Suite("What tools say, and what a server does", .serialized)
struct DifferentialTests {
    static let environment = ProcessInfo.processInfo.environment
    static let seconds = environment["ASSAY_DIFFERENTIAL_SECONDS"].flatMap { Double($0) }
    static let seed: UInt64 = {
        let stated = environment["ASSAY_DIFFERENTIAL_SEED"]
        return stated == "random" ? .random(in: 0 ... .max) : stated.flatMap { UInt64($0) } ?? 20_261_127
    }()

    @Test("Tools and an engine never disagree")
    func comparison() async throws {
        var random = SplitMix(seed: Self.seed)
        var tally = Tally()
        let end = ContinuousClock.now + .seconds(Self.seconds ?? 5)
        // A busy machine may need longer for the first differences.
        while ContinuousClock.now < end || tally.different == 0 && ContinuousClock.now < end + .seconds(600),
            tally.disagreements.isEmpty
        {
            tally = try await Self.run(RandomValues(SplitMix(seed: random.next())), tally)
        }
        print("differential: seed \(Self.seed), \(tally.text)")
        for (problem, count) in tally.problems.sorted(by: { $0.value > $1.value }).prefix(12) {
            print("differential: \(count) refused: \(problem)")
        }
        #expect(tally.disagreements.isEmpty, "seed \(Self.seed)")
        #expect(tally.all > 0)
        #expect(tally.different > 0)
        for text in tally.disagreements { print(text) }
    }

    /// Runs one round.
    static func run(_ values: RandomValues, _ tally: Tally, unseen: String? = nil) async throws -> Tally {
        do throws(Round.Refused) {
            var round = try Round(values, tally, unseen: unseen)
            return await round.finished()
        } catch {
            return error.tally
        }
    }
}

extension Round {
    /// The tally after all requests.
    fileprivate mutating func finished() async -> Tally {
        do {
            try await run()
        } catch {
            let words = "a tool failed: \(error)\n\(before)"
            tally.compare(.diff, false, words)
        }
        return tally
    }
}
