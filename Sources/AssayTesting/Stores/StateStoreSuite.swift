public import AssayKit

/// What every ``StateStore`` promises, as checks for the author of a store.
///
///     let suite = StateStoreSuite { clock in MyStore(clock: clock) }
///     #expect(await suite.run() == [])
///
/// Each check has a store of its own and a clock that stands still until the check moves it. The checks, by name:
///
/// | promise | what is checked |
/// |---|---|
/// | `insert-once` | of many concurrent inserts of one key exactly one returns true, and its value is kept |
/// | `expiry` | from its instant on an entry is absent for get, list and insert; without one it stays |
/// | `insert-once-again` | of many concurrent inserts over an expired entry exactly one returns true |
/// | `clock-set-back` | what expired and was removed cannot be inserted once more when the clock is set back |
/// | `replacement` | put writes, replaces value and expiry, and deletes; insert does not replace |
/// | `whole-values` | a reader sees the old value or the new one, never a mixture |
/// | `counter` | greater values are taken; equal and lower ones refused; the whole range of `UInt64`; no expiry |
/// | `counter-order` | concurrent advances look as if they had happened one after the other |
/// | `counters-apart` | a counter and an entry of the same key know nothing of each other |
/// | `list` | the order of the names' bytes, `after`, `limit`, the space's own live entries only |
/// | `names` | NUL, quotes, wildcards, 1024 bytes; equivalent Unicode spellings are different names |
/// | `values` | empty, all byte values, 1 MiB; larger ones are refused or kept whole |
/// | `spaces` | spaces are apart, whatever their names have in common |
/// | `reopening` | entries, expiries, counters and deletions are there after reopening (durable stores) |
public struct StateStoreSuite: Sendable {
    /// Makes an empty store that reads the time from a clock.
    public typealias Make = @Sendable (HostClock) async throws -> any StateStore
    /// Opens the same data once more, after the given store was closed or dropped.
    public typealias Reopen = @Sendable (any StateStore, HostClock) async throws -> any StateStore

    typealias Check = @Sendable (Run) async throws -> Void

    private let make: Make
    let reopen: Reopen?
    let concurrency: Int

    /// - Parameters:
    ///   - makeStore: makes an empty store for each check.
    ///   - reopen: for a durable store: what a restart does. Nil leaves `reopening` out.
    ///   - concurrency: how many operations run at once.
    public init(makeStore: @escaping Make, reopen: Reopen? = nil, concurrency: Int = 100) {
        self.make = makeStore
        self.reopen = reopen
        self.concurrency = max(concurrency, 2)
    }

    /// Runs all checks. Returns the promises that were broken, none for a good store.
    public func run() async -> [SuiteFailure] {
        let checks: [(String, Check)] = [
            ("insert-once", insertOnce), ("expiry", expiry), ("insert-once-again", insertOnceAgain),
            ("clock-set-back", clockSetBack), ("replacement", replacement), ("whole-values", wholeValues),
            ("counter", counter),
            ("counter-order", counterOrder), ("counters-apart", countersApart), ("list", list),
            ("names", names), ("values", values), ("spaces", spaces), ("reopening", reopening),
        ]
        var failures: [SuiteFailure] = []
        for (promise, check) in checks {
            let clock = SuiteClock()
            do {
                let run = Run(promise: promise, store: try await make(clock.host), clock: clock)
                do {
                    try await check(run)
                } catch {
                    run.expect(false, "threw \(error)")
                }
                failures += run.failures
            } catch {
                failures.append(SuiteFailure(promise: promise, detail: "no store could be made: \(error)"))
            }
        }
        return failures
    }
}
