internal import AssayCore
public import AssayKit

extension SQLiteStore {
    /// How durable the store is, how long it waits and how large it may grow.
    public struct Options: Sendable, Hashable {
        /// What an operation that has returned survives.
        public enum Durability: Sendable, Hashable {
            /// A loss of power too: the disk is made to confirm each commit (`PRAGMA synchronous=FULL`).
            case powerLoss
            /// The end of the process, `kill -9` included, but not the loss of power (`PRAGMA synchronous=NORMAL`).
            ///
            /// The file stays whole, yet after a loss of power the last operations may be forgotten: a challenge
            /// consumed just before could be consumed once more, an assertion counter could go back.
            case processCrash
        }

        /// What an operation that has returned survives.
        ///
        /// The default is the loss of power.
        public var durability: Durability
        /// How long a write waits for another process to release the file.
        ///
        /// Bounded to a minute.
        public var busyTimeout: Duration
        /// The bytes that the database file may grow to; nil for no limit but the disk's.
        ///
        /// Writes beyond it throw ``SQLiteStoreError/Code/diskFull``. The write-ahead log next to the file has a few
        /// MiB and does not count.
        public var maximumFileSize: Int?
        /// Whether the clock is believed from the first moment on; see `SettledTime`.
        var trustsClock = true

        /// Makes options; every argument has a default.
        public init(
            durability: Durability = .powerLoss, busyTimeout: Duration = .seconds(5), maximumFileSize: Int? = nil
        ) {
            self.durability = durability
            self.busyTimeout = busyTimeout
            self.maximumFileSize = maximumFileSize
        }
    }

    /// Limits on the arguments of callers and on the work of one step.
    enum Limits {
        /// Connections that read at the same time.
        static let readers = 4
        /// UTF-8 bytes of a space, and of a name.
        static let nameBytes = 1024
        /// Bytes of a value.
        static let valueBytes = 1 << 20
        /// Entries of one page of a list.
        static let listedEntries = 10_000
        /// Writes that share a transaction.
        static let batchedWrites = 256
        /// Writes, and bytes in them, that wait for a transaction or are in one.
        static let waitingWrites = 16_384
        static let waitingBytes = 64 << 20
        /// Expired entries that a transaction removes in addition to its writes: twice the writes, and at least this
        /// many.
        static let leastPurged = 16
        /// Expired entries that one transaction of a sweep removes.
        static let swept = 512
        /// The time between two sweeps of a store that runs.
        static let sweepInterval = Duration.seconds(600)
    }
}

extension SQLiteStore: StateStorePlugin {
    /// `sqlite`, followed by the path of the database.
    public static let descriptor = StorageDescriptor(
        scheme: "sqlite", version: AssayVersion.text,
        summary: "State in one SQLite file, for the servers of one machine.", location: "PATH", stability: .stable,
        posture: SecurityPosture(
            proves: "What was used once stays used, also across a crash and a loss of power.",
            trusts: ["the machine's disk", "every user who can write the file"]),
        survival: .powerLoss, sharing: .machine)

    /// Opens the store at a path; the path `:memory:` is refused.
    ///
    /// - Throws: `StateStoreOpeningError` when the file cannot be opened.
    public static func open(
        _ location: String, host: StorageHost
    ) async throws(StateStoreOpeningError) -> SQLiteStore {
        guard !location.isExactly(":memory:") else {
            throw StateStoreOpeningError("`:memory:` would be the name of a file here; the store in memory is `memory`")
        }
        guard !location.starts(withExactly: "//") else {
            throw StateStoreOpeningError(
                "a database is a file and has no host: write sqlite:PATH or sqlite:/PATH, without //")
        }
        do throws(SQLiteStoreError) {
            var options = SQLiteStore.Options()
            options.trustsClock = false
            return try SQLiteStore(path: location, clock: host.clock, options: options)
        } catch {
            throw StateStoreOpeningError(error.message)
        }
    }
}
