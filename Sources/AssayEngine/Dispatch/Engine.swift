public import AssayKit
public import AssayPolicy
internal import AssayJWT
public import AssayYAML
internal import Logging

/// The microkernel: finds the policy of the app that a call is about, lets the provider appraise the evidence, and
/// issues the token.
///
/// It knows no transport. Any number of calls may run at once; each sees one snapshot of policies and keys.
public final class Engine: CallHandler {
    /// How an engine behaves beyond what policies say.
    public struct Options: Sendable {
        /// How long one decision may take. What a plugin or a store does meanwhile is cancelled then; one that takes no notice
        /// of that is waited for.
        public var timeLimit: Duration
        /// What keeps the engine from deciding now, in words for an operator; nil when nothing does. Every decision, by a call or by a
        /// request to ``Engine/protect(_:)``, is unavailable then: where decisions must be on record, for instance, and
        /// cannot be written down. The key set is no decision.
        public var blockingReason: (@Sendable () -> String?)?
        /// Whether policies are wrong that have anything for development: at the beginning, and whenever others are put in
        /// their place. That is a provider for development (``PluginDescriptor/isForDevelopment``), what plugins declare of
        /// their keys (``PolicyKey/Development``), and `accept_development: true` anywhere.
        public var refusesDevelopment: Bool

        public init(
            timeLimit: Duration = .seconds(10), blockingReason: (@Sendable () -> String?)? = nil,
            refusesDevelopment: Bool = false
        ) {
            self.timeLimit = timeLimit
            self.blockingReason = blockingReason
            self.refusesDevelopment = refusesDevelopment
        }
    }

    public let registry: Registry
    let host: PluginHost
    /// What every decision passes.
    let gate: DecisionGate
    private let options: Options
    private let failedChallenges = FailedChallenges()
    private let verifiedPeers = VerifiedPeers()
    private let live: LiveSnapshot
    private let storeProbe: StoreProbe

    /// Builds the first snapshot; makes keys where there are none.
    ///
    /// - Parameters:
    ///   - sink: receives a record of each decision; by default, the host's logger, which gets those of strangers up to a rate.
    /// - Throws: ``Diagnostics`` about the policies, ``KeyError`` about the keys.
    public init(
        registry: Registry, policies: PolicySet, keys: KeyStore, host: PluginHost, sink: (any DecisionSink)? = nil,
        options: Options = Options()
    ) throws {
        self.registry = registry
        self.host = host
        self.options = options
        gate = DecisionGate(
            sink: sink ?? SampledDecisions([DecisionLog(host.logger)], clock: host.clock), options: options, host: host)
        self.storeProbe = StoreProbe(host)
        self.live = try LiveSnapshot(
            BoundPolicies(
                policies, registry: registry, host: host, following: nil,
                refusesDevelopment: options.refusesDevelopment), store: keys, host: host)
    }

    /// What providers do between calls, by the policies in force.
    var maintenance: MaintenanceList { snapshot.policies.maintenance }

    public var methods: [MethodDescriptor] { registry.methods }

    /// Puts other policies in the place of the present ones, whole or not at all.
    ///
    /// Calls under way end by the snapshot that they began with.
    ///
    /// - Throws: what the initialiser throws; the present policies stay in force then.
    public func replacePolicies(_ policies: PolicySet) throws {
        try live.replace(
            BoundPolicies(
                policies, registry: registry, host: host, following: snapshot.policies,
                refusesDevelopment: options.refusesDevelopment))
    }

    /// Reads the key store again, and takes up what has changed there; apps and instances of plugins stay as they are.
    ///
    /// What time alone brings about, such as the beginning of a key that was prepared so, needs no reload.
    ///
    /// - Returns: whether anything had changed.
    /// - Throws: ``KeyError`` when the keys are gone or damaged, or lack one that opens artifacts of this service; the
    ///   present keys stay in force then.
    @discardableResult
    public func reloadKeys() throws -> Bool {
        try live.reloadKeys()
    }

    /// What is questionable in the policies in force, at its place; nil when nothing is.
    public var policyWarnings: Diagnostics? { snapshot.policies.warnings }

    /// What a request that begins now is judged by.
    var snapshot: Snapshot { live.snapshot }

    /// Whether the state store can be written, as a write of the last few seconds showed, the keys are those that it knows,
    /// and nothing else keeps the engine from deciding.
    public var readiness: Readiness {
        get async {
            if let reason = gate.blockingReason { return .notReady(reason) }
            let readiness = await storeProbe.readiness
            if case .notReady = readiness { return readiness }
            return await gate.blockingReason(snapshot).map { .notReady($0) } ?? readiness
        }
    }

    public func handle(_ call: Call) async -> Reply {
        let snapshot = snapshot
        // The public keys are no decision: nothing is judged, and there is no record.
        if call.method.isExactly(KernelMethods.keySet.name) {
            let now = host.clock.now
            return Reply(
                decision: DecisionID(now: now, randomness: host.randomness),
                result: .success(snapshot.keys.keySet(at: now)))
        }
        let subject = DecisionSubject(
            method: call.method, requested: call.resource, peer: call.peer, provider: registry.owners[call.method])
        let (decision, ending) = await gate.decide(by: snapshot, subject) { scope, subject in
            await answer(call, scope, &subject)
        }
        return Reply(decision: decision, result: ending.result)
    }

    /// Has a consumer answer, or token exchange find one that does.
    private func consume(
        _ call: Call, by consumer: RegisteredConsumer?, _ scope: DecisionScope, _ subject: inout DecisionSubject
    ) async -> CallOutcome {
        let dispatch = ConsumerDispatch(scope, call: call, caller: subject.caller)
        let outcome =
            if let consumer { await dispatch.run(call.method, of: consumer) } else { await dispatch.exchange() }
        guard let entry = outcome.consumer else { return outcome.ending }
        subject.resource = entry.project.name
        subject.facts.append(Fact(.consumer, .text(entry.descriptor.name)))
        return outcome.ending
    }

    /// Lets the caller in, goes from the resource's name to its policy, and from the method to what answers it.
    private func answer(_ call: Call, _ scope: DecisionScope, _ subject: inout DecisionSubject) async -> CallOutcome {
        let policies = scope.snapshot.policies
        // Whoever may not call a method must not learn from its answers what there is: this comes first.
        if let permission = registry.demands[call.method] {
            guard let credentials = call.credentials else { return .unauthenticated("no bearer token was shown") }
            let found: Callers.Found
            do {
                switch try await policies.callers.find(credentials, now: scope.now) {
                case .found(let caller): found = caller
                case .unknown(let detail): return .unauthenticated(detail)
                }
            } catch {
                return .unavailable(error.message)
            }
            subject.caller = found.caller
            if let name = found.subject { subject.facts = [Fact(.callerSubject, .text(SafeText.of(name)))] }
            guard found.caller.has(permission) else {
                // Only the record says what there is.
                subject.resource = policies.find(call.resource)?.name
                return .forbidden(found.caller, lacks: permission)
            }
        }
        let consumer = registry.consumerMethods[call.method]
        if consumer != nil || call.method.isExactly(TokenExchange.method.name) {
            return await consume(call, by: consumer, scope, &subject)
        }
        let found = policies.find(call.resource)
        subject.resource = found?.name
        subject.app = found?.app
        if let caller = subject.caller, !caller.mayAct(in: found?.project) {
            return .forbidden(caller, in: found?.project)
        }
        guard let resource = found else {
            // Only names that are not known need to be told from what is no name at all.
            do throws(InvalidRequest) {
                try ResourceName.check(call.resource)
            } catch {
                return .rejected(.invalidArgument, error.message)
            }
            return .rejected(.notFound, "Requested entity was not found.")
        }
        let dispatch = Dispatch(
            scope, live: live, call: call, caller: subject.caller, failedChallenges: failedChallenges,
            verifiedPeers: verifiedPeers)
        if let method = registry.kernelMethods[call.method] {
            guard method.descriptor.resources.contains(resource.kind) else {
                return .rejected(.invalidArgument, "The method is not there for resources of this kind.")
            }
            return await dispatch.run(method, on: resource)
        }
        guard case .app(let app) = resource else {
            return .rejected(.invalidArgument, "The method is not there for resources of this kind.")
        }
        guard let entry = app.methods[call.method],
            entry.method.descriptor.resources.contains(app.identity.kind)
        else {
            return .rejected(.failedPrecondition, "App not registered: \(app.identity.subject).")
        }
        // Before anything is verified that costs time. Callers with a permission are known, and are not many.
        if registry.demands[call.method] == nil, let bucket = app.bucket {
            let (peer, uptime) = (PeerGroup(call.peer), host.clock.uptime)
            let isVerified = verifiedPeers.contains(peer, of: app.name, at: uptime)
            if let wait = bucket.take(at: uptime, for: peer, isVerified: isVerified) { return .limited(wait: wait) }
        }
        return await dispatch.run(entry, of: app)
    }
}
