public import AssayCore
public import AssayKit
internal import Synchronization

/// What every `StateStore` promises, as checks for the author of a store.
///
///     let suite = StateStoreSuite { clock in MyStore(clock: clock) }
///     #expect(await suite.run() == [])
///
/// Each check has its own store, and a clock that stops until the check moves it. The checks, by name:
///
/// | promise | what is checked |
/// |---|---|
/// | `insert-once` | of many concurrent inserts of one key exactly one returns true, and its value is kept |
/// | `expiry` | from its instant on an entry is absent for get, list and insert; without one it stays |
/// | `insert-once-again` | of many concurrent inserts over an expired entry exactly one returns true |
/// | `clock-set-back` | what expired and was removed cannot be inserted once more when the clock is set back |
/// | `clock-ahead` | a clock that is ahead for a moment removes nothing, and what is new is inserted afterwards |
/// | `replacement` | put writes, replaces value and expiry, and deletes; insert does not replace |
/// | `whole-values` | a reader sees the old value or the new one, never a mixture |
/// | `counter` | greater values are taken; equal and lower ones refused; the whole range of `UInt64`; no expiry |
/// | `counter-order` | concurrent advances look as if they had happened one after the other |
/// | `counters-apart` | a counter and an entry of the same key know nothing of each other |
/// | `commit` | several changes are made together or none is, and the first that cannot be made is named |
/// | `commit-once` | of concurrent commits with a common key exactly one is made, and nothing of the others |
/// | `commit-refused` | of concurrent commits of which some are refused at a later change, the refused ones change nothing |
/// | `commit-readers` | no reader finds a part of a commit |
/// | `commit-in-order` | a store that spans servers makes changes in order, up to the first refused one, which it names |
/// | `list` | the order of the names' bytes, `after`, `limit`, the space's own live entries only |
/// | `names` | NUL, quotes, wildcards, 1024 bytes; equivalent Unicode spellings are different names |
/// | `values` | empty, all byte values, 1 MiB; larger ones are refused or kept whole |
/// | `spaces` | spaces are apart, whatever their names have in common |
/// | `closing` | operations in progress at the close end or throw, and every later one throws (stores with a scheme) |
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
    let spansServers: Bool

    /// - Parameters:
    ///   - makeStore: makes an empty store for each check.
    ///   - reopen: for a durable store: what a restart does. Nil leaves `reopening` out.
    ///   - concurrency: the number of concurrent operations.
    ///   - spansServers: whether the store makes the changes of a commit one after another; this leaves `commit`,
    ///     `commit-once` and `commit-readers` out, and `commit-in-order` takes their place.
    public init(
        makeStore: @escaping Make, reopen: Reopen? = nil, concurrency: Int = 100, spansServers: Bool = false
    ) {
        self.make = makeStore
        self.reopen = reopen
        self.concurrency = max(concurrency, 2)
        self.spansServers = spansServers
    }

    /// The names of the checks.
    static let promises = [
        "insert-once", "expiry", "insert-once-again", "clock-set-back", "clock-ahead", "replacement", "whole-values",
        "counter", "counter-order", "counters-apart", "commit", "commit-once", "commit-refused",
        "commit-readers", "commit-in-order", "list", "names", "values", "spaces", "closing",
        "reopening",
    ]

    /// The checks that are none for this kind of store.
    private var leftOut: [String] {
        spansServers ? ["commit", "commit-once", "commit-readers"] : ["commit-in-order"]
    }

    private var checks: [Check] {
        [
            insertOnce, expiry, insertOnceAgain, clockSetBack, clockAhead, replacement, wholeValues, counter,
            counterOrder, countersApart, commit, commitOnce, commitRefused, commitReaders, commitInOrder, list, names,
            values, spaces,
            closing, reopening,
        ]
    }

    /// Runs all checks.
    ///
    /// Returns the promises that were broken, none for a good store.
    public func run() async -> [SuiteFailure] {
        let checks = zip(Self.promises, self.checks).filter { !leftOut.contains($0.0) }
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

/// A promise of a contract that an implementation broke.
public struct SuiteFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The check that found it: the name of a promise, stable.
    public let promise: String
    /// What was expected, and what happened instead.
    public let detail: String

    /// A broken promise, for suites of one's own.
    public init(promise: String, detail: String) {
        self.promise = promise
        self.detail = detail
    }

    /// The promise and what happened instead.
    public var description: String { "\(promise): \(detail)" }
}

/// A clock that a check moves.
final class SuiteClock: Sendable {
    private static let start = Instant(seconds: 1_800_000_000)

    private let time = Mutex(start)
    /// How wrong the time of day is.
    private let error = Mutex(Duration.zero)

    var now: Instant { time.withLock { $0 } + error.withLock { $0 } }

    var host: HostClock {
        HostClock(
            now: { self.now }, uptime: { self.time.withLock { $0 } - Self.start }, sleep: { self.advance($0) })
    }

    /// Sets the time of day wrong by a duration, which takes no time.
    func misset(by duration: Duration) {
        error.withLock { $0 = duration }
    }

    func advance(_ duration: Duration) {
        time.withLock { $0 = $0 + duration }
    }
}
