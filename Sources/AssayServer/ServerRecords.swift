internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayServices
internal import Logging
internal import ServiceLifecycle

/// What receives the decisions of a server, and captured evidence.
struct ServerRecords: Sendable {
    /// The log, each audit file, and the queues of other servers, each with limits of its own: what one of them cannot write is
    /// missing there alone.
    let samples: [SampledDecisions]
    let evidence: EvidenceFolder?
    /// The records that callers may look up: those of the first file that has a name.
    ///
    /// Devices and pipes cannot be read again.
    let archive: AuditArchive?
    private let files: [AuditFile]
    private let queues: [SinkQueue]
    private let configuration: ServerConfiguration

    /// Opens all of it.
    ///
    /// - Throws: the error of what cannot be opened, after the others were closed.
    init(
        _ configuration: ServerConfiguration, _ registry: Registry, _ host: PluginHost, _ storage: StorageHost
    ) async throws {
        self.configuration = configuration
        var options = AuditFile.Options()
        options.rotation = configuration.audit.rotation
        let files = try configuration.audit.paths.map {
            try AuditFile(path: $0, logger: host.logger, meter: host.meter, clock: host.clock, options: options)
        }
        self.files = files
        let path = configuration.audit.paths.first { path in
            !path.isExactly("-") && !["/dev/", "/proc/"].contains { path.starts(withExactly: $0) }
        }
        archive = path.map { AuditArchive([$0], clock: host.clock) }
        evidence = try configuration.capture.map { folder in
            try EvidenceFolder(
                path: folder.path, logger: host.logger, meter: host.meter, clock: host.clock,
                options: .init(perSecond: folder.perSecond))
        }
        let queues = try await Self.queues(configuration.sinks.names, registry, storage)
        self.queues = queues
        let limits = configuration.records
        var samples = [SampledDecisions([DecisionLog(host.logger)], limits: limits)]
        for file in files { samples.append(SampledDecisions([file], limits: limits) { !file.blockingReason.isNil }) }
        if !queues.isEmpty {
            let isRequired = configuration.sinks.isRequired
            samples.append(
                SampledDecisions(queues, limits: limits) { isRequired && queues.contains { !$0.blockingReason.isNil } })
        }
        self.samples = samples
    }

    private static func queues(
        _ names: [String], _ registry: Registry, _ host: StorageHost
    ) async throws -> [SinkQueue] {
        var queues: [SinkQueue] = []
        var counts: [ExactText: Int] = [:]
        for name in names {
            let scheme = String(name.split(onASCII: ":", maxSplits: 1).first ?? "")
            let count = counts[scheme, default: 0] + 1
            counts[scheme] = count
            let label = count == 1 ? scheme : "\(scheme)_\(count)"
            var host = host
            host.logger[metadataKey: "sink"] = "\(label)"
            do {
                queues.append(try await registry.openSink(name, as: label, host: host))
            } catch {
                for queue in queues { await queue.close() }
                throw error
            }
        }
        return queues
    }

    /// What all of it receives.
    var sink: DecisionSinks { DecisionSinks(samples) }

    /// Why decisions that must be recorded cannot be; nil when they can.
    var blockingReason: String? {
        if configuration.audit.isRequired, let reason = files.lazy.compactMap(\.blockingReason).first { return reason }
        return configuration.sinks.isRequired ? queues.lazy.compactMap(\.blockingReason).first : nil
    }

    /// What `/readyz` asks.
    var checks: [@Sendable () async -> Readiness] {
        var checks: [@Sendable () async -> Readiness] = files.map { file in { file.readiness } }
        checks += queues.map { queue in { queue.readiness } }
        if let evidence { checks.append { evidence.readiness } }
        return checks
    }

    /// The audit files are opened again on SIGHUP, so that they can be rotated by renaming them.
    var subjects: [ReloadSubject] {
        guard !files.isEmpty else { return [] }
        return [
            ReloadSubject("audit file", action: .reopen) { [files] in
                var failure: AuditError?
                for file in files {
                    do throws(AuditError) { try file.reopen() } catch { failure = failure ?? error }
                }
                if let failure { throw failure }
                return ["file": "\(files.map(\.path).joined(separator: ", "))"]
            }
        ]
    }

    /// Warns when the folder for evidence and the policies do not go together.
    func warn(_ engine: Engine) {
        let logger = configuration.logger
        switch (engine.capturesEvidence, configuration.capture) {
        case (true, nil):
            logger.warning("the policies ask for captured evidence, and nothing is captured without --capture FOLDER")
        case (false, let folder?):
            logger.warning(
                "nothing is captured: the policies have no section `capture`", metadata: ["folder": "\(folder.path)"])
        case (true, _?), (false, nil): break
        }
    }
}

// MARK: - Services

extension ServerRecords {
    /// Keeps the audit files, and their indexes for look-ups; nil without files.
    var audit: (any Service)? {
        var services: [any Service] = files.map { AuditService(file: $0) }
        if let archive { services.append(ArchiveService(archive: archive, logger: configuration.logger)) }
        return services.isEmpty ? nil : SimultaneousServices(services)
    }

    /// Keeps captured evidence; nil without a folder.
    func capture(_ engine: Engine) -> (any Service)? { evidence.map { EvidenceService(folder: $0, engine: engine) } }

    /// Passes records on; nil without sinks.
    var sinks: (any Service)? {
        queues.isEmpty ? nil : SimultaneousServices(queues.map { SinkService(queue: $0) })
    }
}
