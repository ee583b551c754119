public import AssayCore
public import Logging

/// What the host supplies to a plugin: time, randomness, storage, secrets, outbound calls, a log and a meter.
///
/// Tests supply their own, set the clock and never sleep.
public struct PluginHost: Sendable {
    /// The clock.
    public var clock: HostClock
    /// The source of random bytes.
    public var randomness: Randomness
    /// The state store.
    ///
    /// A plugin reaches only its own namespaces in it: those whose names begin with ``space``'s.
    public var store: any StateStore
    /// The plugin's namespace of the state store for all of its instances together, for work beside requests.
    ///
    /// It does not know when the state began. Requests take `pluginState` of their context, which is the same and knows it.
    public var space: StateSpace
    /// The source of secrets.
    public var secrets: SecretSource
    /// The client for calls to other servers.
    public var http: any OutboundHTTP
    /// The logger.
    public var logger: Logger
    /// Where metrics are recorded.
    public var meter: Meter
    /// The threads of ``blocking(_:)``.
    package var workers = WorkerThreads(count: 4, waiting: 64)
    /// What all plugins under the host share, whichever copy of the host they have.
    package let shared = SharedObjects()
    /// The client that ``http`` counts the calls of; nil where it is ``http`` itself.
    package var uncountedHTTP: (any OutboundHTTP)?

    /// Makes a host; by default with the system's clock and randomness.
    ///
    /// - `http`: what plugins call other servers with; by default every call fails.
    public init(
        clock: HostClock = .system, randomness: Randomness = .system, store: any StateStore,
        secrets: SecretSource = .system, http: any OutboundHTTP = NoOutboundHTTP(), logger: Logger,
        meter: Meter = .none
    ) {
        self.clock = clock
        self.randomness = randomness
        self.store = store
        space = StateSpace("plugin", in: store)
        self.secrets = secrets
        self.http = http
        self.logger = logger
        self.meter = meter
    }
}

extension PluginHost {
    /// An object that all instances of the plugin share: a cache, a rate, the state of another server.
    ///
    /// It stays for as long as one instance uses it, also through changes of policies, which replace instances. Nothing
    /// in it may decide whether evidence was used: that is in the state store, which outlives the process.
    ///
    /// - `name`: tells the plugin's objects of one type apart.
    /// - `make`: makes the object if no instance has it. It must do no more than that: a lock is held meanwhile.
    public func sharedObject<Object: AnyObject & Sendable>(_ name: String, _ make: () -> Object) -> Object {
        shared.object("\(space.name) \(name)", make)
    }

    /// Does work that blocks its thread, such as reading a file, on a few threads that the plugin has for it.
    ///
    /// - Throws: `TooMuchWork` when much other work waits; `CancellationError` at once when the call is cancelled: the
    ///   work continues, and its result is dropped; what the work throws.
    public func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await workers.run(work)
    }
}
