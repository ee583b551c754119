public import AssayCore
public import AssayEngine
public import AssayKit
public import Logging
internal import Synchronization

/// A state store from its opening to its end.
///
/// A program opens it with ``Registry/openStore(_:host:)``, runs ``run(clock:randomness:logger:)`` next to its services
/// if it serves, and calls ``close()`` at its end; ``Registry/withStore(_:host:_:)`` does so for a short command.
public final class OpenStore: Sendable {
    /// The store for a `PluginHost`.
    public let store: any StateStore
    /// What the store says of itself; nil for the store in memory.
    public let descriptor: StorageDescriptor?
    private let plugin: (any StateStorePlugin)?
    private let clock: HostClock
    private let work = Mutex<BackgroundWork?>(nil)
    private let isClosed = Mutex(false)

    /// How long a store may take to close.
    static let closingLimit = Duration.seconds(30)

    init(_ store: any StateStore, _ plugin: (any StateStorePlugin)? = nil, clock: HostClock) {
        self.store = store
        self.plugin = plugin
        self.clock = clock
        descriptor = plugin.map { type(of: $0).descriptor }
    }

    /// Does the work that the store has to do for the life of a server, until the task is cancelled.
    ///
    /// After a failure, which is logged, it begins again after a growing pause; see ``readiness``.
    public func run(clock: HostClock = .system, randomness: Randomness = .system, logger: Logger) async {
        guard let plugin, let descriptor else { return }
        let work = BackgroundWork(
            "the state store \(descriptor.scheme)", clock: clock, randomness: randomness, logger: logger
        ) { try await plugin.run() }
        self.work.withLock { $0 = work }
        await work.run()
    }

    /// Degraded while the work of the store fails.
    public var readiness: Readiness {
        work.withLock { $0 }?.readiness ?? .ready
    }

    /// What an operator should know of the store although it works; nil when there is nothing.
    public var caution: String? { plugin?.caution }

    /// Closes the store, once: a second call does nothing.
    ///
    /// Every later operation throws. It waits up to half a minute for operations in progress.
    public func close() async {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        guard isFirst, let plugin else { return }
        _ = await waiting(atMost: Self.closingLimit, clock: clock) { await plugin.close() }
    }
}

extension Registry {
    /// Opens a store for a piece of work, and closes it at its end, also when it throws.
    ///
    /// - Throws: `StateStoreOpeningError`, or what the work throws.
    public func withStore<Value>(
        _ name: String, host: StorageHost = StorageHost(), _ body: (any StateStore) async throws -> Value
    ) async throws -> Value {
        let open = try await openStore(name, host: host)
        do {
            let value = try await body(open.store)
            await open.close()
            return value
        } catch {
            await open.close()
            throw error
        }
    }
}
