public import AssayCore
public import AssayKit

/// What every `StateStore` promises, as checks for the author of a store.
///
///     let suite = StateStoreSuite(MyStore.self, appendedFiles: [""]) { folder.appendingPathComponent("\(UUID())").path }
///     #expect(await suite.run() == [])
///
/// Each check has its own store, and a clock that stops until the check moves it. ``PromiseSuite`` reports the checks with the
/// promise of each one in words, and with what a check did not look at, and why.
///
/// A store that hangs fails the check, which ends after half a minute without any progress; its threads are left behind. A store
/// that crashes ends the process. `assay conformance` makes the checks in another process, so that its report comes in any
/// case.
public struct StateStoreSuite: Sendable {
    /// Makes an empty store that reads the time from a clock.
    public typealias Make = @Sendable (HostClock) async throws -> any StateStore
    /// Opens the same data once more, after the given store was closed or dropped.
    public typealias Reopen = @Sendable (any StateStore, HostClock) async throws -> any StateStore

    typealias Check = @Sendable (Run) async throws -> Void

    private let makePlace: @Sendable () async throws -> Place
    /// Whether the data is kept, so that it can be opened once more.
    let isReopened: Bool
    let concurrency: Int
    let spansServers: Bool
    /// Which files of a store grow at their ends, as what follows the location in their names.
    let appendedFiles: [String]?
    /// Why expired entries are not seen to be removed by the clock of the suite.
    let removal: String?
    /// How many entries are many.
    var manyEntries = (quick: 12_000, full: 50_000)
    /// How many entries one page must be able to have.
    var longestPage = 10_000
    var patience: SuiteCheck.Patience

    /// Checks a store that is opened by a location, as servers do.
    ///
    /// - Parameters:
    ///   - store: the store. What its descriptor claims, survival and sharing, is checked too.
    ///   - appendedFiles: which files a crash can leave without their end, as what follows the location in their names:
    ///     `[""]` for a file at the location, `["-wal"]` for a log beside it. Nil leaves `torn-files` out.
    ///   - removal: why the removal of expired entries cannot be seen with the clock of the suite, for a store that removes by
    ///     another one.
    ///   - concurrency: the number of concurrent operations.
    ///   - spansServers: whether the store makes the changes of a commit one after another; this leaves `commit`,
    ///     `commit-once` and `commit-readers` out, and `commit-in-order` takes their place.
    ///   - timeLimit: how long all checks together may take.
    ///   - newLocation: a location at which nothing is, for each check.
    public init<Store: StateStorePlugin>(
        _ store: Store.Type, appendedFiles: [String]? = nil, removal: String? = nil, concurrency: Int = 100,
        spansServers: Bool = false, timeLimit: Duration = .seconds(300),
        newLocation: @escaping @Sendable () async throws -> String
    ) {
        self.init(
            isReopened: Store.descriptor.survival != .nothing, appendedFiles, removal, concurrency, spansServers,
            timeLimit
        ) {
            Place(location: try await newLocation()) { try await Store.open($0, host: StorageHost(clock: $1)) }
        }
    }

    /// Checks a store that a program makes by itself.
    ///
    /// - Parameters:
    ///   - makeStore: makes an empty store for each check.
    ///   - reopen: for a durable store: what a restart does. Nil leaves `reopening` out.
    ///   - removal: why the removal of expired entries cannot be seen with the clock of the suite, for a store that removes by
    ///     another one.
    ///   - concurrency: the number of concurrent operations.
    ///   - spansServers: whether the store makes the changes of a commit one after another; this leaves `commit`,
    ///     `commit-once` and `commit-readers` out, and `commit-in-order` takes their place.
    ///   - timeLimit: how long all checks together may take.
    public init(
        makeStore: @escaping Make, reopen: Reopen? = nil, removal: String? = nil, concurrency: Int = 100,
        spansServers: Bool = false, timeLimit: Duration = .seconds(300)
    ) {
        self.init(isReopened: reopen != nil, nil, removal, concurrency, spansServers, timeLimit) {
            Place(make: makeStore, reopen: reopen)
        }
    }

    private init(
        isReopened: Bool, _ appendedFiles: [String]?, _ removal: String?, _ concurrency: Int, _ spansServers: Bool,
        _ timeLimit: Duration, _ makePlace: @escaping @Sendable () async throws -> Place
    ) {
        self.isReopened = isReopened
        self.appendedFiles = appendedFiles
        self.removal = removal
        self.concurrency = max(concurrency, 2)
        self.spansServers = spansServers
        self.makePlace = makePlace
        patience = SuiteCheck.Patience(total: timeLimit)
    }

    /// The suite with other sizes and other limits of time, for tests of the suite itself.
    package func adapted(manyEntries: Int, silence: Duration? = nil) -> StateStoreSuite {
        var suite = self
        suite.manyEntries = (manyEntries, manyEntries)
        suite.longestPage = manyEntries
        if let silence {
            suite.patience.silence = silence
            suite.patience.silenceAfterHang = silence
        }
        return suite
    }

    /// Runs all checks.
    ///
    /// Returns the promises that were broken, none for a good store. What was not looked at is in the report of a
    /// ``PromiseSuite``.
    public func run() async -> [SuiteFailure] {
        await checks.lines(.quick, patience).failures
    }

    /// The checks, in their order.
    var checks: [SuiteCheck] {
        Self.promises.map { promise in
            SuiteCheck(name: promise.name, rule: promise.rule) { progress, effort in
                if let reason = isNone(promise.name) { return .notApplicable(reason) }
                let clock = SuiteClock()
                do {
                    let place = try await makePlace()
                    let store = try await progress.during("open") { try await place.first(clock.host) }
                    let run = Run(store, place, clock, progress, effort)
                    do {
                        try await promise.check(self)(run)
                    } catch {
                        run.expect(false, "threw \(error)")
                    }
                    await progress.during("close") { await place.closeAll() }
                    return run.outcome
                } catch {
                    return .failed(["no store could be made: \(error)"])
                }
            }
        }
    }

    /// Why a check is none for this kind of store.
    private func isNone(_ name: String) -> String? {
        if spansServers {
            ["commit", "commit-once", "commit-readers"].contains(where: name.isExactly)
                ? "the store makes the changes of a commit one after another, see `commit-in-order`" : nil
        } else {
            name.isExactly("commit-in-order") ? "the store makes all changes of a commit in one step" : nil
        }
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
