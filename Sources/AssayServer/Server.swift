package import AssayCore
package import AssayEngine
internal import AssayHTTP
internal import AssayHTTPClient
internal import AssayHTTPServer
package import AssayKit
internal import AssayPolicy
internal import AssayServices
internal import CProcess
internal import Logging
public import ServiceLifecycle
internal import UnixSignals

#if ExtAuthz
internal import AssayExtAuthz
#endif

/// A whole server: policies that are watched, state, keys, records, listeners.
///
/// `assay serve` parses its arguments, and runs one.
///
///     var configuration = ServerConfiguration(plugins: .standard, logger: Logger(label: "my-server"))
///     configuration.policies = .folder("/etc/my-server/policies")
///     try await Server(configuration).run()
///
/// It changes the process as a server needs it: it raises the limit of open files to what the system allows, and takes the signals
/// of ``ServerConfiguration/terminationSignals``.
public struct Server: Service {
    private let configuration: ServerConfiguration
    private var logger: Logger { configuration.logger }

    /// Makes a server; nothing is opened before ``run()``.
    public init(_ configuration: ServerConfiguration) {
        self.configuration = configuration
    }

    /// Serves until a signal comes, the task that it runs in is shut down gracefully or cancelled, or a service fails.
    ///
    /// - Throws: `Diagnostics` about policies, `KeyError`, `RegistryError`, and the errors of stores, files and listeners.
    public func run() async throws {
        #if !ExtAuthz
        if configuration.authorization != nil {
            throw UnbuiltListener()
        }
        #endif
        ProcessLimits.prepare()
        #if os(Linux)
        // As with `taskset`, or `CPUAffinity=` of systemd.
        ConnectionThreads.limit(toProcessors: Int(assay_usable_processors()))
        #endif
        // By default, each of them ends a process.
        let signals =
            configuration.terminationSignals.isEmpty
            ? nil : await UnixSignalsSequence(trapping: .sighup, .sigusr1, .sigusr2)
        let stores = try ServerRegistry.make(configuration.plugins).storeDescriptors
        let place = try PolicyPlace(configuration.policies, state: configuration.state, among: stores, logger: logger)
        let processes = try await PluginProcesses.start(in: place.plugins, checksOnly: false, logger: logger)
        do {
            let registry = try ServerRegistry.make(
                configuration.plugins + processes.plugins, unoffered: configuration.unoffered)
            PluginWarnings.log(registry, to: logger)
            let store = try await registry.openStore(configuration.state, host: StorageHost(logger: logger))
            do {
                try await serve(
                    ServerParts(registry: registry, processes: processes, store: store, place: place), signals)
            } catch {
                await store.close()
                throw error
            }
            await store.close()
        } catch {
            await processes.stop()
            throw error
        }
        await processes.stop()
    }

    private func serve(_ parts: ServerParts, _ signals: UnixSignalsSequence?) async throws {
        let metrics = try ServerMetrics(
            parts.registry, in: configuration.showsLibraryMetrics ? .bootstrapped() : MetricRegistry())
        let client = try HTTPClientService(HTTPClientOptions(connectionsPerServer: 96))
        let secretFiles = SecretFiles()
        let host = PluginHost(
            store: parts.store.store, secrets: secretFiles.noting(.system), http: client, logger: logger,
            meter: metrics.meter)
        let certificates = try ServerCertificates(configuration)
        let records = try await ServerRecords(
            configuration, parts.registry, host, StorageHost(http: client, logger: logger, meter: metrics.meter))
        let (engine, policies, fingerprint, keys, recordStart) = try await start(parts, records, metrics, host)

        let subjects =
            [
                self.policies(parts, engine, fingerprint, policies, records, metrics, host.clock),
                .secretFiles(secretFiles, of: parts.place.source, for: engine), .keys(in: keys.store, for: engine),
                parts.processes.subject,
            ] + certificates.subjects + records.subjects
        let reloads = ReloadMetrics(metrics.meter, subjects: subjects)
        let reloader = Reloader(subjects, interval: configuration.watchInterval, logger: logger) { subject, outcome in
            reloads.record(subject, outcome)
            if subject.isExactly("policies") {
                outcome == .failed ? metrics.policies.reloadFailed() : metrics.policies.reloadSucceeded()
            }
            // What was in force before is free by now, and so is what reading the new files took.
            if outcome != .unchanged { Heap.trim() }
        }
        // Shared by every listener that strangers reach.
        let budget = configuration.http.budget
        try TransportMetrics.add(budget, to: metrics.registry)
        let watch = CertificateWatch(certificates: certificates.all, logger: logger, clock: host.clock)
        watch.add(to: metrics.registry)
        KeyMetrics.add(engine, clock: host.clock, to: metrics.registry)
        var pages = HTTPPages(
            showsDetail: true,
            checks: records.checks + [
                { reloader.readiness }, { parts.place.readiness }, { parts.store.readiness }, { keys.readiness },
                { watch.readiness },
            ],
            metrics: metrics.page)
        pages.notes = [
            { parts.store.caution }, { watch.caution }, { engine.newState }, { engine.overriddenLevels },
            { engine.weakResourcePolicies },
        ]
        let listeners = ServerListeners(configuration, engine, certificates, pages, metrics.meter)
        let systemd = SystemdService(listeners: listeners.count, logger: logger)
        let (start, started) = AsyncStream.makeStream(of: Never.self)
        // Not before: a start that fails for an address that is in use decided nothing.
        let listening = try listeners.services {
            recordStart()
            started.finish()
        } onListening: {
            await systemd?.report(.listening)
        }
        let polling = parts.place.polling(reloader) { reloads.record("policy_bundle", $0 ? .reloaded : .failed) }
        // They end in the reverse order: what is written about decisions ends when no more are made, and what calls
        // other servers outlives those that it calls for.
        var services = ServerServices(
            engine: engine, meter: metrics.meter,
            [
                (.store, StoreService(store: parts.store, logger: logger)), (.outboundHTTP, client),
                (.policyHTTP, parts.place.client), (.audit, records.audit), (.capture, records.capture(engine)),
                (.sinks, records.sinks), (.records, RecordService(decisions: records.samples)),
                (.heap, HeapService(budget: budget)), (.certificates, watch),
                (
                    .readiness,
                    ReadinessService(
                        handler: engine, checks: pages.checks, meter: metrics.meter, logger: logger, start: start)
                ),
                (.keys, KeyService(keys: keys, engine: engine, logger: logger)),
                (.refresh, RefreshService(engine: engine)),
                (.maintenance, MaintenanceService(engine: engine, metrics: metrics.maintenance)), (.reload, reloader),
                (
                    .signals,
                    signals.map { ReloadSignal(signals: $0, reloader: reloader, bundle: polling, systemd: systemd) }
                ),
                (.policyBundle, polling), (.listeners, SimultaneousServices(listening)), (.systemd, systemd),
            ])
        try configuration.arrange(&services)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.all.map { .init(service: $0.service) },
                gracefulShutdownSignals: configuration.terminationSignals, logger: logger))
        try await group.run()
    }

    /// Opens the keys, and makes the engine; what is returned last records that the server began to decide.
    private func start(
        _ parts: ServerParts, _ records: ServerRecords, _ metrics: ServerMetrics, _ host: PluginHost
    ) async throws -> (Engine, PolicySet, FileFingerprint, OpenKeys, @Sendable () -> Void) {
        let source = parts.place.source
        let fingerprint = source.fingerprint
        var keyHost = StorageHost(http: host.http, logger: logger, meter: metrics.meter)
        keyHost.state = parts.store.store
        let stores = parts.registry.storeDescriptors
        let keys = try await parts.registry.openKeys(
            try configuration.keys ?? KeyFolder.standard(forState: configuration.state, among: stores), host: keyHost)
        // Before new keys are made in the place of those that are lost.
        let lost = configuration.forgottenKeys
        let unknown = try await UsedKeys.check(keys.store, in: host.store, forgetting: lost, now: host.clock.now)
        for kid in unknown {
            logger.warning(
                "there is no key to give up: the state does not remember it; leave the option --forget-key out",
                metadata: ["key": "\(kid)", "keys": "\(keys.name)"])
        }
        let forgotten = lost.filter { !unknown.contains(exactly: $0) }
        let hadKeys = try keys.store.hasKeys
        try keys.prepareFirstKeys(
            isAsked: configuration.makesFirstKeys, state: parts.store.descriptor, program: configuration.name,
            logger: logger)
        let options = Engine.Options(
            blockingReason: { records.blockingReason ?? keys.blockingReason },
            refusesDevelopment: configuration.refusesDevelopment, evidence: records.evidence, archive: records.archive)
        await parts.place.bundle?.poll()
        let (engine, policies) = try await OwnThread.run {
            try source.start { policies in
                try Engine(
                    registry: parts.registry, policies: policies, keys: keys.store, host: host,
                    sink: DecisionSinks([records.sink, metrics.decisions]), options: options)
            }
        }
        metrics.loaded(policies, at: host.clock.now)
        PolicyWarnings.log(policies, engine.policyWarnings, to: logger)
        records.warn(engine)
        Heap.trim()
        // Only now, so that a start that fails forgets nothing.
        try await UsedKeys.forget(forgotten, in: host.store)
        for kid in forgotten {
            logger.warning("a key is given up as lost", metadata: ["key": "\(kid)", "keys": "\(keys.name)"])
        }
        let copied = try? await StateDescription(of: parts.store.store).copied
        let recordStart: @Sendable () -> Void = { [configuration] in
            records.sink.record(
                .started(
                    policies, by: configuration, keys: keys.store, made: !hadKeys, forgotten: forgotten,
                    restoredCopyOf: copied, at: host.clock.now))
        }
        let counts = policies.counts
        logger.info(
            "policies, keys and state are loaded",
            metadata: [
                "apps": "\(counts.apps)", "oauth_clients": "\(counts.oauthClients)", "keys": "\(keys.name)",
                "state": "\(StateName(configuration.state, among: stores).shown)", "revision": "\(policies.revision)",
                "version": "\(configuration.version)",
            ])
        return (engine, policies, fingerprint, keys, recordStart)
    }

    /// What follows from changed policies.
    private func policies(
        _ parts: ServerParts, _ engine: Engine, _ fingerprint: FileFingerprint, _ present: PolicySet,
        _ records: ServerRecords, _ metrics: ServerMetrics, _ clock: HostClock
    ) -> ReloadSubject {
        let logger = logger
        return .policies(in: parts.place.source, for: engine, loaded: fingerprint, present: present) {
            policies, before in
            PolicyWarnings.log(policies, engine.policyWarnings, to: logger)
            records.warn(engine)
            metrics.loaded(policies, at: clock.now)
            let changes = before.map { parts.registry.changes(from: $0, to: policies) }
            for line in changes?.lines() ?? [] {
                logger.notice("changed in policies", metadata: ["change": "\(line)"])
            }
            for loss in changes?.losses ?? [] {
                logger.warning("running clients lose something", metadata: ["loss": "\(loss)"])
            }
            // On SIGHUP they are put in force again, with their secrets, also where nothing differs.
            if before?.revision != policies.revision {
                records.sink.record(.changed(to: policies, from: before, changes, at: clock.now))
            }
        } refused: { revision, error in
            records.sink.record(.refused(revision, error, at: clock.now))
        }
    }

    private struct UnbuiltListener: Error, CustomStringConvertible {
        let description =
            "this program was built without a listener for ext_authz: build it with the package trait ExtAuthz"
    }
}

/// What a server has opened before it reads policies.
struct ServerParts: Sendable {
    let registry: Registry
    let processes: PluginProcesses
    let store: OpenStore
    let place: PolicyPlace
}

/// The registry of a server's plugins.
package enum ServerRegistry {
    /// - Throws: `RegistryError` when two plugins claim the same name or the same HTTP rule, or one claims a page of the
    ///   server.
    package static func make(
        _ plugins: [Plugin], unoffered: [MethodDescriptor] = []
    ) throws(RegistryError) -> Registry {
        try Registry(
            plugins + .keyVaults, administration: .api, unoffered: unoffered,
            reserved: [HTTPPages.reserved, ReservedNames(owner: "the server", metrics: ServerMetrics.beside)])
    }
}
