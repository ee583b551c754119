public import AssayCore
public import AssayKit
public import AssayPolicy
internal import AssayVerifier
public import AssayYAML
internal import Logging

/// The microkernel: finds the policy of the app that a call is about, asks the provider to appraise the evidence, and
/// issues the token.
///
/// It depends on no transport. Any number of calls may run at once; each sees one snapshot of policies and keys.
public final class Engine: CallHandler {
    /// The behaviour of an engine that policies do not set.
    public typealias Options = EngineOptions

    /// The plugins that policies can name.
    public let registry: Registry
    package let host: PluginHost
    /// The gate of every decision.
    let gate: DecisionGate
    private let options: Options
    private let live: LiveSnapshot
    private let storeProbe: StoreProbe
    private let overrides = LevelOverrides()

    /// Builds the first snapshot, and makes keys if none are stored.
    ///
    /// - `sink`: receives a record of each decision; by default, the host's logger receives them, those about strangers
    ///   up to a rate.
    /// - Throws: `Diagnostics` about the policies, ``KeyError`` about the keys.
    public convenience init(
        registry: Registry, policies: PolicySet, keys: any KeySource, host: PluginHost, sink: (any DecisionSink)? = nil,
        options: Options = Options()
    ) throws {
        let host = WatchedStore.host(host)
        let bound = try BoundPolicies(
            policies, registry: registry, host: host, following: nil, refusesDevelopment: options.refusesDevelopment)
        try self.init(registry: registry, bound: bound, keys: keys, host: host, sink: sink, options: options)
    }

    /// Builds the first snapshot of policies whose instances are made.
    package init(
        registry: Registry, bound: BoundPolicies, keys: any KeySource, host: PluginHost, sink: (any DecisionSink)?,
        options: Options = Options()
    ) throws {
        let host = WatchedStore.host(host)
        self.registry = registry
        self.host = host
        self.options = options
        storeProbe = StoreProbe(host)
        let sink = sink ?? SampledDecisions([DecisionLog(host.logger)], clock: host.clock)
        live = try LiveSnapshot(bound, store: keys, host: host, sink: sink)
        gate = DecisionGate(
            sink: sink, options: options, live: live, host: host,
            facts: registry.providers.mapValues(\.descriptor.facts), names: RecordNames(registry))
    }

    /// The maintenance of providers and consumers under the policies in force.
    package var maintenance: MaintenanceList { snapshot.policies.maintenance }

    /// Whether other processes can use the state store, by what it says of itself.
    package var isStateShared: Bool {
        let watched = (host.store as? WatchedStore)?.store ?? host.store
        let store = (watched as? PooledStore)?.store ?? watched
        return (store as? any StateStorePlugin).map { type(of: $0).descriptor.sharing != .process } ?? false
    }

    /// The methods of the kernel and of every registered plugin.
    public var methods: [MethodDescriptor] { registry.methods }

    /// Replaces the policies, completely or not at all.
    ///
    /// Calls in flight end with the snapshot that they began with.
    ///
    /// - Throws: as the initialiser does; the present policies then stay in force.
    public func replacePolicies(_ policies: PolicySet) throws {
        try live.replace(
            BoundPolicies(
                policies, registry: registry, host: host, following: snapshot.policies,
                refusesDevelopment: options.refusesDevelopment))
    }

    /// Reads the key store again, and uses the keys that have changed; apps and instances of plugins stay as they are.
    ///
    /// A change at a known time, such as the activation of a prepared key, needs no reload.
    ///
    /// - Returns: whether anything has changed.
    /// - Throws: ``KeyError`` when the keys are missing or damaged, or when one that opens artifacts of this service is
    ///   missing; the present keys then stay in force.
    @discardableResult
    public func reloadKeys() throws -> Bool {
        try live.reloadKeys()
    }

    /// The keys that this engine uses.
    package var keyRing: KeyRing { snapshot.keys.ring }

    /// Notes that the vault has answered; false when its keys are others than those in force.
    package func confirmKeys() -> Bool {
        live.confirmKeys()
    }

    /// The warnings about the policies in force, with their places; nil when there are none.
    public var policyWarnings: Diagnostics? { snapshot.policies.warnings }

    /// The revision of the policies in force.
    public var revision: PolicyRevision? { snapshot.policies.revision }

    /// Whether the policies in force ask for captured evidence, and have a key for it.
    public var capturesEvidence: Bool { snapshot.policies.capture != nil }

    /// Reads again what other servers change in the state, the deny list and the levels of services, until the task is cancelled.
    ///
    /// Run it next to the code that makes the calls, so that no call waits for the store because of it: without it, a call reads
    /// it every two seconds.
    public func runRefresh() async {
        await gate.liveState.run { [self] in await overrides.look(snapshot.policies, host) }
    }

    /// Which services have levels that administrators have set to others than those of the policies, in words; nil for none.
    ///
    /// It is known while ``runRefresh()`` runs.
    public var overriddenLevels: String? { overrides.note }

    /// Which resource policies are stricter than their service, and so protect nothing, in words; nil for none.
    ///
    /// It is known while ``runRefresh()`` runs.
    public var weakResourcePolicies: String? { overrides.noteOfResourcePolicies }

    /// That this process has begun the state, or was the first to use a copy that was restored, in words; nil for a state that was
    /// there, and before the first request.
    public var newState: String? { gate.newState }

    /// Deletes the captured evidence that the policies in force keep no longer.
    ///
    /// Call it regularly, at least once an hour: what is too old must go also when nothing is captured.
    public func tidyEvidence() {
        guard let folder = options.evidence, let capture = snapshot.policies.capture else { return }
        folder.tidy(capture.limits)
    }

    /// The snapshot for a request that begins now.
    var snapshot: Snapshot { live.snapshot }

    /// How far the knowledge of the keys has aged, and what operators should know of that.
    package var keyFreshness: KeyFreshness { live.freshness }

    /// Whether a write to the state store succeeded in the last few seconds, the keys are those that the state was used
    /// with, and nothing else blocks decisions; degraded while calls of a plugin fail, while the keys may be out of
    /// date, while a clock is or was wrong, or while the deny list is not known as a whole.
    public var readiness: Readiness {
        get async {
            if let reason = gate.blockingReason { return .notReady(reason) }
            let keys: Readiness
            switch (keyFreshness.stage, keyFreshness.caution) {
            case (.silent, let caution): return .notReady(caution ?? "no tokens are issued")
            case (_, let caution?): keys = .degraded(caution)
            case (_, nil): keys = .ready
            }
            let readiness = await storeProbe.readiness
            if case .notReady = readiness { return readiness }
            if let reason = await gate.blockingReasonOfKeys { return .notReady(reason) }
            let cautions = [gate.clockWatch.caution].compactMap(\.self) + gate.liveState.cautions
            return Readiness.combined([readiness, keys, pluginReadiness] + cautions.map { .degraded($0) })
        }
    }

    /// Answers a call of any method of ``methods``, and puts the decision on record.
    public func handle(_ call: Call) async -> Reply {
        let route = registry.routes[call.method]
        // Serving the public keys, or where they are, decides nothing, so there is no record.
        if case .keySet? = route?.target {
            let now = host.clock.now
            // Before the keys, which may be loaded meanwhile.
            let lifetime = live.freshness.cacheLifetime
            return Reply(
                decision: gate.identifiers.next(now: now), result: snapshot.published(call, at: now), lifetime: lifetime
            )
        }
        let (decision, outcome) = await gate.decide(call, requiring: route?.permission, provider: route?.provider) {
            await answer(route, $0)
        }
        return Reply(decision: decision, result: outcome.result)
    }

    /// Finds out what the method belongs to, which then answers the call.
    private nonisolated(nonsending) func answer(_ route: MethodRoute?, _ scope: RequestScope) async -> CallOutcome {
        guard let route else {
            return .rejected(.unimplemented, "This program has no method '\(SafeText.asked(scope.call.method))'.")
        }
        if let refusal = route.closedRequest?.refusal(of: scope.call.body) {
            var outcome = CallOutcome.ended(by: refusal)
            outcome.resource = scope.snapshot.policies.find(scope.call.resource)?.name
            return outcome
        }
        switch route.target {
        case .consumer(let plugin): return await ConsumerCall(scope: scope).answer(by: plugin)
        case .tokenExchange: return await ConsumerCall(scope: scope).exchange()
        case .kernel, .provider, .keySet: return await answer(onResource: route, scope)
        }
    }

    /// Finds the resource that a call is about; then the kernel's method or the app's provider answers.
    private nonisolated(nonsending) func answer(
        onResource route: MethodRoute, _ scope: RequestScope
    ) async -> CallOutcome {
        let call = scope.call
        var outcome: CallOutcome
        let found: FoundResource?
        switch scope.snapshot.policies.admit(call.method, route, to: call.resource, by: scope.caller) {
        case .provider(let app, let method):
            found = .app(app)
            outcome = await ProviderCall(scope: scope, app: app, method: method).answer()
        case .kernel(let method, let resource):
            found = resource
            outcome = await KernelCall.answer(method, on: resource, scope)
        case .ended(let end, let resource):
            found = resource
            outcome = end
        }
        outcome.resource = found?.name
        outcome.app = found?.app ?? outcome.app
        return outcome
    }
}
