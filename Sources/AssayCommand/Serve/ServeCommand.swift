internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayHTTP
internal import AssayHTTPClient
internal import AssayHTTPServer
internal import AssayKeys
internal import AssayKit
internal import AssayMetrics
internal import AssayPolicy
internal import AssayPolicyTools
internal import AssayRecords
internal import AssayReload
internal import CProcess
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// `assay serve`.
struct ServeCommand: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "serve", abstract: "Serve App Check over HTTP.",
            discussion: """
                Without a certificate it speaks HTTP/1.1, and over TLS HTTP/2, too, with clients that ask for it in the \
                handshake.

                Prints one line when it listens, and with --audit - audit records instead; everything else goes to standard \
                error. On SIGTERM and SIGINT it finishes the requests that have begun, and ends. SIGUSR1 opens \
                the audit file again under its name; SIGUSR2 does nothing.

                Changed policies are taken up while it serves, as a whole or not at all: when their files have changed and \
                hold still, and on SIGHUP at once. With a URL as --policies, they come as a bundle that is signed with a key of \
                --bundle-key, see `\(program) policy bundle --help`: it is asked for at intervals and on SIGHUP, and the last one in \
                force is kept for a start without the URL. Policies that are wrong are refused with each problem in the log; those in \
                force stay, and /readyz at --operations says "degraded" and why, with status 200, until the files are good again.

                The state remembers which keys it was used with: it does not start when one of them is missing, for then artifacts \
                could not be opened any more. See `\(program) state --help` for backups.

                With --production, policies are wrong that have anything for development: the provider `debug`, trust anchors \
                of simulated authorities, Apple's development environments, `accept_development: true`, and URLs of this \
                machine where another server is meant. It does not start with them, and does not take them up later; the file \
                and the line of each is said, and what to do.
                """)
    }

    @Option(
        help: ArgumentHelp(
            "The folder of policy files, or the URL of a signed bundle of them.", valueName: "folder|url"),
        completion: .directory)
    var policies = "policies"

    @OptionGroup
    var bundle: BundleOptions

    @Option(
        help: ArgumentHelp(
            "The state store: sqlite:PATH; postgres://… or redis://… for several servers; or memory, which loses used challenges "
                + "and counters at the end."))
    var state = AssayProgram.current.state

    @Option(
        help:
            "The address of the server: HOST:PORT, where port 0 means a free one; a Unix socket; or a socket that systemd passes, "
            + "by its name if there are several.", valueName: "host:port|unix:path|systemd:name",
        reading: .socketAddress)
    var listen = SocketAddress.host(ListenAddress(host: "127.0.0.1", port: 8080))

    @Option(
        help:
            "The permissions of the Unix socket of --listen; by default only the user that the server runs as may connect.",
        valueName: "octal", reading: .socketMode)
    var socketMode: SocketMode?

    @Option(
        help: ArgumentHelp(
            "The folder of the keys, or a key vault as SCHEME:LOCATION; state:MASTERKEY keeps them in "
                + "the state store for several servers, see `keys wrap --help`. By default a folder next to the state's file, or "
                + "~/.local/state/assay/keys when the state is in memory.", valueName: "folder"),
        completion: .directory)
    var keys: String?

    @Flag(
        help: ArgumentHelp(
            "Make the first keys, where servers share the keys or the state and have none yet. For the first start of one server only: "
                + "it does not start when there are keys."))
    var newKeys = false

    @Option(
        help: ArgumentHelp(
            "Continue without a key that the state was used with and that is lost permanently; may be given several times. "
                + "Devices that were attested under a lost sealing key are refused forever.", valueName: "kid"))
    var forgetKey: [String] = []

    @Flag(help: "Refuse policies with settings for development, such as the provider debug.")
    var production = false

    @Flag(
        help: "Allow core dumps and tracing by the same user's processes. A dump contains private keys and tokens.")
    var coreDumps = false

    @OptionGroup
    var reload: ReloadOptions

    @OptionGroup
    var tls: TLSOptions

    @OptionGroup
    var browsers: BrowserOptions

    @OptionGroup
    var limits: LimitOptions

    @OptionGroup
    var proxies: ProxyOptions

    @OptionGroup
    var extAuthz: ExtAuthzOptions

    @OptionGroup
    var operations: OperationsOptions

    @OptionGroup
    var audit: AuditOptions

    @OptionGroup
    var sinks: SinkOptions

    @OptionGroup
    var records: RecordOptions

    @OptionGroup
    var capture: CaptureOptions

    @OptionGroup
    var log: LogOptions

    func validate() throws {
        if socketMode != nil, !listen.isUnixSocket {
            throw ValidationError("--socket-mode needs a Unix socket in --listen")
        }
        try extAuthz.validate(with: tls)
        try checkAddresses()
        try bundle.validate(with: policies, production: production)
    }

    /// Two listeners at one address would fail one after the other with an error of the system.
    private func checkAddresses() throws {
        var listeners = [("--listen", listen)]
        if case .own(let address) = operations.operations { listeners.append(("--operations", .host(address))) }
        if let address = extAuthz.extAuthzListen { listeners.append(("--ext-authz-listen", address)) }
        for (index, (option, address)) in listeners.enumerated() {
            for (earlier, other) in listeners[..<index] where address.collides(with: other) {
                let remedy =
                    option.isExactly("--operations")
                    ? "; --operations public shows its pages at the address of --listen" : ""
                throw ValidationError(
                    "\(earlier) and \(option) have the same address, \(address.address(mode: nil)): each listener needs one of its own\(remedy)"
                )
            }
        }
    }

    func run() async throws {
        let logger = log.bootstrap()
        ProcessLimits.prepare()
        #if os(Linux)
        // As with `taskset`, or `CPUAffinity=` of systemd.
        ConnectionThreads.limit(toProcessors: Int(assay_usable_processors()))
        #endif
        if coreDumps { CoreDumps.allow() }
        do {
            try await serve(logger)
        } catch let error where !(error is ExitCode) {
            log.complain(error, logger)
            throw ExitCode.couldNotRun
        }
    }

    private func serve(_ logger: Logger) async throws {
        // By default, each of them ends a process.
        let signals = await UnixSignalsSequence(trapping: .sighup, .sigusr1, .sigusr2)
        let place = try bundle.place(of: policies, state: state, logger: logger)
        let processes = try await PluginProcesses.start(in: place.plugins, checksOnly: false, logger: logger)
        do {
            let registry = try AssayProgram.current.registry(with: processes.plugins)
            PluginWarnings.log(registry, to: logger)
            let store = try await registry.openStore(state)
            do {
                try await serve(registry, processes, store, place, signals, logger)
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

    private func serve(
        _ registry: Registry, _ processes: PluginProcesses, _ store: OpenStore, _ place: PolicyPlace,
        _ signals: UnixSignalsSequence, _ logger: Logger
    ) async throws {
        let metrics = try ServerMetrics(registry, in: .bootstrapped())
        let source = place.source
        let fingerprint = source.fingerprint
        let client = try HTTPClientService(HTTPClientOptions(connectionsPerServer: 96))
        let secretFiles = SecretFiles()
        let host = PluginHost(
            store: store.store, secrets: secretFiles.noting(.system), http: client, logger: logger, meter: metrics.meter
        )
        let tlsFingerprint = tls.fingerprint
        let certificate = try tls.open()
        let authorizationFingerprint = extAuthz.fingerprint(tls)
        let authorizationCertificate = try extAuthz.certificate(tls, common: certificate)
        let auditFiles = try audit.open(host)
        let archive = audit.archive(host.clock)
        let evidence = try capture.open(host)
        let storage = StorageHost(http: client, logger: logger, meter: metrics.meter)
        let queues = try await sinks.open(registry, storage)
        let sinkReason = sinks.blockingReason(queues)
        let samples = records.samples(DecisionLog(logger), auditFiles, queues, reasonOfQueues: sinkReason)
        let recorded = DecisionSinks(samples)
        var keyHost = storage
        keyHost.state = store.store
        let keys = try await registry.openKeys(try keys ?? KeyFolder.standard(forState: state), host: keyHost)
        // Before new keys are made in the place of those that are lost.
        let unknown = try await UsedKeys.check(
            keys.store, in: host.store, forgetting: forgetKey, now: host.clock.now)
        for kid in unknown {
            logger.warning(
                "there is no key to give up: the state does not remember it; leave the option --forget-key out",
                metadata: ["key": "\(kid)", "keys": "\(keys.name)"])
        }
        let forgotten = forgetKey.filter { !unknown.contains(exactly: $0) }
        let hadKeys = try keys.store.hasKeys
        try KeyPlace.prepareFirstKeys(keys, isAsked: newKeys, state: store.descriptor, logger: logger)
        let options = Engine.Options(
            blockingReason: ServeCommand.first(audit.blockingReason(auditFiles), sinkReason, { keys.blockingReason }),
            refusesDevelopment: production, evidence: evidence, archive: archive)
        await place.bundle?.poll()
        let (engine, policies) = try await OwnThread.run {
            try source.start { policies in
                try Engine(
                    registry: registry, policies: policies, keys: keys.store, host: host,
                    sink: DecisionSinks([recorded, metrics.decisions]), options: options)
            }
        }
        metrics.loaded(policies, at: host.clock.now)
        PolicyWarnings.log(policies, engine.policyWarnings, to: logger)
        capture.warn(engine, logger)
        Heap.trim()
        // Only now, so that a start that fails forgets nothing.
        try await UsedKeys.forget(forgotten, in: host.store)
        for kid in forgotten {
            logger.warning("a key is given up as lost", metadata: ["key": "\(kid)", "keys": "\(keys.name)"])
        }
        let copied = try? await StateDescription(of: store.store).copied
        recorded.record(
            .started(
                policies, keys: keys.store, made: !hadKeys, forgotten: forgotten, restoredCopyOf: copied,
                at: host.clock.now))
        let counts = policies.counts
        logger.info(
            "policies, keys and state are ready",
            metadata: [
                "apps": "\(counts.apps)", "oauth_clients": "\(counts.oauthClients)", "keys": "\(keys.name)",
                "state": "\(StateName(state).shown)", "revision": "\(policies.revision)",
                "version": "\(AssayProgram.current.version)",
            ])

        let subjects: [ReloadSubject] =
            [
                .policies(in: source, for: engine, loaded: fingerprint, present: policies) {
                    [capture] policies, before in
                    PolicyWarnings.log(policies, engine.policyWarnings, to: logger)
                    capture.warn(engine, logger)
                    metrics.loaded(policies, at: host.clock.now)
                    let changes = before.map { registry.changes(from: $0, to: policies) }
                    for line in changes?.lines() ?? [] {
                        logger.notice("changed in policies", metadata: ["change": "\(line)"])
                    }
                    for service in before.map({ policies.editedServices(since: $0) }) ?? [] {
                        logger.warning(
                            "the level of a service has changed in a file; if administrators have set another one, theirs holds",
                            metadata: ["service": "\(service)"])
                    }
                    for loss in changes?.losses ?? [] {
                        logger.warning("running clients lose something", metadata: ["loss": "\(loss)"])
                    }
                    // On SIGHUP they are put in force again, with their secrets, also where nothing differs.
                    if before?.revision != policies.revision {
                        recorded.record(.changed(to: policies, from: before, changes, at: host.clock.now))
                    }
                } refused: { revision, error in
                    recorded.record(.refused(revision, error, at: host.clock.now))
                },
                .secretFiles(secretFiles, of: source, for: engine), .keys(in: keys.store, for: engine),
                processes.subject,
            ] + tls.subjects(certificate, loaded: tlsFingerprint)
            + extAuthz.subjects(authorizationCertificate, loaded: authorizationFingerprint)
            + audit.subjects(auditFiles)
        let reloads = ReloadMetrics(metrics.meter, subjects: subjects)
        let reloader = Reloader(subjects, interval: reload.watch.duration, logger: logger) { subject, outcome in
            reloads.record(subject, outcome)
            if subject == "policies" {
                outcome == .failed ? metrics.policies.reloadFailed() : metrics.policies.reloadSucceeded()
            }
            // What was in force before is free by now, and so is what reading the new files took.
            if outcome != .unchanged { Heap.trim() }
        }
        // Shared by every listener that strangers reach.
        let budget = limits.budget
        try TransportMetrics.add(budget, to: metrics.registry)
        let certificates = CertificateWatch(
            certificates: [certificate, authorizationCertificate].compactMap(\.self), logger: logger, clock: host.clock)
        certificates.add(to: metrics.registry)
        KeyMetrics.add(engine, clock: host.clock, to: metrics.registry)
        var pages = HTTPPages(
            showsDetail: true,
            checks: audit.checks(auditFiles) + sinks.checks(queues) + capture.checks(evidence) + [
                { reloader.readiness }, { place.readiness }, { store.readiness }, { keys.readiness },
                { certificates.readiness },
            ],
            metrics: metrics.page)
        pages.notes = [{ store.caution }, { certificates.caution }]
        let publicPages = operations.publicPages(pages)
        let systemd = SystemdService(
            listeners: 1 + operations.listeners + (extAuthz.extAuthzListen == nil ? 0 : 1), logger: logger)
        let operations = try operations.service(engine, pages: pages, logger: logger) {
            await systemd?.report(.listening)
        }
        let authorization = try extAuthz.service(
            engine, certificate: authorizationCertificate, budget: budget, records: records.limits, logger: logger,
            meter: metrics.meter
        ) { await systemd?.report(.listening) }
        var configuration = HTTPConfiguration(
            address: listen.address(mode: socketMode), limits: limits.limits, origins: browsers.origins,
            certificate: certificate, budget: budget, trustedProxies: proxies.proxies)
        configuration.records = records.limits
        let service = try HTTPService(
            handler: engine, pages: publicPages, configuration: configuration,
            logger: logger, meter: metrics.meter
        ) { [log, usesOutput = audit.usesStandardOutput] address in
            let scheme = certificate == nil ? "http" : "https"
            log.announce(url: address.port == nil ? "\(address)" : "\(scheme)://\(address)", aside: usesOutput, logger)
            await systemd?.report(.listening)
        }
        // They end in the reverse order: what is written about decisions ends when no more are made, and what calls
        // other servers outlives those that it calls for.
        let polling = place.polling(reloader) { reloads.record("policy_bundle", $0 ? .reloaded : .failed) }
        var services: [any Service] = [StoreService(store: store, logger: logger), client]
        if let client = place.client { services.append(client) }
        services += audit.services(auditFiles, archive, logger)
        services += capture.services(evidence, engine)
        for queue in queues { services.append(SinkService(queue: queue)) }
        services +=
            [
                RecordService(decisions: samples), HeapService(budget: budget),
                certificates,
                ReadinessService(handler: engine, checks: pages.checks, meter: metrics.meter, logger: logger),
            ] as [any Service]
        services += [
            KeyService(keys: keys, engine: engine, logger: logger),
            RefreshService(engine: engine), MaintenanceService(engine: engine, metrics: metrics.maintenance), reloader,
            ReloadSignal(signals: signals, reloader: reloader, bundle: polling, systemd: systemd),
        ]
        if let polling { services.append(polling) }
        let listeners: [(any Service)?] = [operations, authorization, service]
        services.append(SimultaneousServices(listeners.compactMap(\.self)))
        if let systemd { services.append(systemd) }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.map { .init(service: $0) }, gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger))
        try await group.run()
    }

    /// The first reason that any of several has; nil when none can have one.
    private static func first(
        _ reasons: (@Sendable () -> String?)?...
    ) -> (@Sendable () -> String?)? {
        let reasons = reasons.compactMap(\.self)
        guard !reasons.isEmpty else { return nil }
        return {
            for reason in reasons {
                if let text = reason() { return text }
            }
            return nil
        }
    }
}
