internal import AssayCore
internal import AssayEngine
internal import AssayKit

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// One promise of a contract, and how it is looked at.
struct SuiteCheck: Sendable {
    typealias Outcome = ConformanceReport.Outcome

    /// How long checks may take.
    ///
    /// These are no times that a plugin must keep: they tell one that hangs from one that is slow.
    struct Patience: Sendable {
        /// How long no operation of the plugin begins or ends.
        var silence = Duration.seconds(60)
        /// The same, after a check has hung.
        var silenceAfterHang = Duration.seconds(3)
        /// All checks together.
        var total = Duration.seconds(300)

        /// For plugins whose operations are not noted, so that a whole check is one silence: it may be long beside other work.
        static var ofWholeChecks: Patience {
            Patience(silence: ConformanceProcess.isAlone ? .seconds(60) : .seconds(240))
        }
    }

    let name: String
    /// The promise in words.
    let rule: String
    let look: @Sendable (CheckProgress, ConformanceEffort) async -> Outcome

    /// Looks at the promise on threads that may block, and gives up when nothing happens any more: what hangs is left behind.
    fileprivate func outcome(
        _ effort: ConformanceEffort, silence: Duration, left: Duration
    ) async -> (outcome: Outcome, hangs: Bool) {
        let (progress, result, start) = (CheckProgress(), FirstResult<Outcome>(), ContinuousClock.now)
        // As many threads as the engine has for a store that may block.
        let executor = CallExecutor(WorkerThreads(count: 8, waiting: .max / 2)) { _ in }
        let work = Task(executorPreference: executor) {
            result.settle(.success(await look(progress, effort)))
        }
        // No task watches: the plugin may block all threads that tasks have.
        let isWatched = WorkerThreads(count: 1, waiting: 1).start {
            while result.present == nil {
                let failure: String? =
                    if progress.silence >= silence {
                        if let unended = progress.unended {
                            "hangs: \(unended) did not end within \(silence.components.seconds) seconds"
                        } else {
                            "hangs: nothing happened for \(silence.components.seconds) seconds"
                        }
                    } else if ContinuousClock.now - start >= left {
                        "is too slow: \(progress.calls) operations in \(left.components.seconds) seconds"
                    } else {
                        nil
                    }
                if let failure { result.settle(.failure(GivenUp(description: failure))) }
                usleep(20_000)
            }
        }
        guard isWatched else { return (.failed(["no thread could be started"]), false) }
        do {
            return (try await result.value, false)
        } catch {
            work.cancel()
            return (.failed(["\(error)"]), true)
        }
    }

    private struct GivenUp: Error, CustomStringConvertible {
        let description: String
    }
}

extension [SuiteCheck] {
    /// Makes the checks, one after the other.
    ///
    /// - Parameter each: receives each line as soon as its check has ended.
    func lines(
        _ effort: ConformanceEffort, _ patience: SuiteCheck.Patience,
        each: @escaping @Sendable (ConformanceReport.Line) -> Void = { _ in }
    ) async -> [ConformanceReport.Line] {
        // A plugin may block all threads that tasks have.
        let executor = CallExecutor(WorkerThreads(count: 1, waiting: .max / 2)) { _ in }
        return await Task(executorPreference: executor) { await ownLines(effort, patience, each) }.value
    }

    private func ownLines(
        _ effort: ConformanceEffort, _ patience: SuiteCheck.Patience,
        _ each: @Sendable (ConformanceReport.Line) -> Void
    ) async -> [ConformanceReport.Line] {
        let start = ContinuousClock.now
        var silence = patience.silence
        var lines: [ConformanceReport.Line] = []
        for check in self {
            let left = patience.total - (ContinuousClock.now - start)
            let line: ConformanceReport.Line
            if left > .zero {
                let (outcome, hangs) = await check.outcome(effort, silence: silence, left: left)
                if hangs { silence = Swift.min(silence, patience.silenceAfterHang) }
                line = ConformanceReport.Line(check.name, check.rule, outcome)
            } else {
                let words = "was not looked at: the checks before took \(patience.total.components.seconds) seconds"
                line = ConformanceReport.Line(check.name, check.rule, .failed([words]))
            }
            lines.append(line)
            each(line)
        }
        return lines
    }
}

extension [ConformanceReport.Line] {
    /// The broken promises, one for each finding.
    var failures: [SuiteFailure] {
        flatMap { line -> [SuiteFailure] in
            guard case .failed(let findings) = line.outcome else { return [] }
            return findings.map { SuiteFailure(promise: line.check, detail: $0) }
        }
    }
}
