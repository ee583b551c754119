public import AssayKit
public import AssayPolicy
internal import AssayYAML
internal import Logging
internal import Synchronization

/// The microkernel: finds the policy of the app that a call is about, lets the provider appraise the evidence, and
/// issues the token.
///
/// It knows no transport. Any number of calls may run at once; each sees one snapshot of policies and keys.
public final class Engine: CallHandler {
    /// How an engine behaves beyond what policies say.
    public struct Options: Sendable {
        /// How long one decision may take.
        public var timeLimit: Duration
        /// What keeps the engine from deciding now, in words for an operator; nil when nothing does. Calls are answered
        /// as unavailable then: where decisions must be on record, for instance, and cannot be written down.
        public var hindrance: (@Sendable () -> String?)?

        public init(timeLimit: Duration = .seconds(10), hindrance: (@Sendable () -> String?)? = nil) {
            self.timeLimit = timeLimit
            self.hindrance = hindrance
        }
    }

    public let registry: Registry
    private let host: Host
    private let keys: KeyStore
    private let sink: any DecisionSink
    private let options: Options
    private let failedChallenges = FailedChallenges()
    private let storeProbe: StoreProbe
    private let current: Mutex<Snapshot>

    /// Builds the first snapshot; makes keys where there are none.
    ///
    /// - Parameters:
    ///   - sink: receives a record of each decision; by default, the host's logger.
    /// - Throws: ``Diagnostics`` about the policies, ``KeyError`` about the keys.
    public init(
        registry: Registry, policies: PolicySet, keys: KeyStore, host: Host, sink: (any DecisionSink)? = nil,
        options: Options = Options()
    ) throws {
        self.registry = registry
        self.host = host
        self.keys = keys
        self.sink = sink ?? DecisionLog(host.logger)
        self.options = options
        self.storeProbe = StoreProbe(host)
        self.current = Mutex(try Snapshot(policies, registry: registry, keys: keys, host: host))
    }

    public var methods: [MethodDescriptor] { registry.methods }

    /// Puts other policies in the place of the present ones, whole or not at all.
    ///
    /// Calls under way end by the snapshot that they began with.
    ///
    /// - Throws: what the initialiser throws; the present policies stay in force then.
    public func replacePolicies(_ policies: PolicySet) throws {
        let snapshot = try Snapshot(policies, registry: registry, keys: keys, host: host)
        current.withLock { $0 = snapshot }
    }

    /// Whether the state store can be written, as a write of the last few seconds showed, and nothing else hinders.
    public var readiness: Readiness {
        get async {
            if let hindrance = options.hindrance?() { return .notReady(hindrance) }
            return await storeProbe.readiness
        }
    }

    public func handle(_ call: Call) async -> Reply {
        let now = host.clock.now
        let start = host.clock.uptime
        let decision = DecisionID(now: now, randomness: host.randomness)
        let snapshot = current.withLock { $0 }
        let dispatch = Dispatch(
            snapshot: snapshot, call: call, decision: decision, now: now, host: host,
            failedChallenges: failedChallenges, timeLimit: options.timeLimit)
        if call.method == KernelMethods.keySet.name {
            return Reply(decision: decision, result: .success(snapshot.keySet))
        }
        let app: AppEntry?
        let ending: Ending
        let hindrance = options.hindrance?()
        switch find(call, in: snapshot) {
        case .method(_, let found) where hindrance != nil:
            app = found
            ending = .unavailable(hindrance ?? "")
        case .missing(let rejection, let found):
            app = found
            ending = rejection
        case .method(let entry, let found):
            app = found
            ending = await dispatch.run(entry, of: found)
        }
        sink.record(
            DecisionRecord(
                decision: decision, time: now, duration: host.clock.uptime - start, method: SafeText.of(call.method),
                resource: app?.identity.resource ?? SafeText.of(call.resource),
                provider: registry.owners[call.method], outcome: ending.outcome, detail: ending.detail,
                facts: ending.facts, peer: call.peer))
        return Reply(decision: decision, result: ending.result)
    }

    private enum Finding {
        case method(MethodEntry, AppEntry)
        case missing(Ending, AppEntry?)
    }

    /// Goes from a resource to its policy, and from a method to the instance that answers it.
    private func find(_ call: Call, in snapshot: Snapshot) -> Finding {
        let name: ResourceName
        do throws(InvalidRequest) {
            name = try ResourceName(call.resource)
        } catch {
            return .missing(.rejected(.invalidArgument, error.message), nil)
        }
        guard let app = snapshot.apps[name.text] else {
            return .missing(.rejected(.notFound, "Requested entity was not found."), nil)
        }
        guard let entry = app.methods[call.method], entry.method.descriptor.resources.contains(app.identity.kind)
        else {
            return .missing(.rejected(.failedPrecondition, "App not registered: \(app.identity.subject)."), app)
        }
        return .method(entry, app)
    }
}
