internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayRecords
internal import Logging
internal import ServiceLifecycle

/// Whether and where evidence is captured.
struct CaptureOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            A folder, with the mode 0700, that receives the evidence which the section `capture` of the policies asks for, \
            encrypted. Decisions do not wait for it.
            """, valueName: "folder"))
    var capture: String?

    @Option(
        help: "How many pieces of evidence a second this server captures at most, of all apps together.",
        valueName: "number", reading: .number(1...10_000))
    var captureRate = EvidenceFolder.Options().perSecond

    /// - Throws: `EvidenceFolderError` when the folder cannot be used.
    func open(_ host: PluginHost) throws -> EvidenceFolder? {
        try capture.map { path in
            try EvidenceFolder(
                path: path, logger: host.logger, meter: host.meter, clock: host.clock,
                options: .init(perSecond: captureRate))
        }
    }

    /// Warns when the option and the policies do not go together.
    func warn(_ engine: Engine, _ logger: Logger) {
        switch (engine.capturesEvidence, capture) {
        case (true, nil):
            logger.warning("the policies ask for captured evidence, and nothing is captured without --capture FOLDER")
        case (false, let folder?):
            logger.warning(
                "nothing is captured: the policies have no section `capture`", metadata: ["folder": "\(folder)"])
        case (true, _?), (false, nil): break
        }
    }

    /// What `/readyz` asks.
    func checks(_ folder: EvidenceFolder?) -> [@Sendable () async -> Readiness] {
        guard let folder else { return [] }
        return [{ folder.readiness }]
    }

    /// What runs as long as the server does.
    func services(_ folder: EvidenceFolder?, _ engine: Engine) -> [any Service] {
        folder.map { [EvidenceService(folder: $0, engine: engine)] } ?? []
    }
}

/// Deletes captured evidence that is too old, and at the end writes what still waits.
///
/// It comes before all that makes decisions among the services, and so ends after them.
struct EvidenceService: Service {
    let folder: EvidenceFolder
    let engine: Engine

    func run() async {
        await cancelWhenGracefulShutdown {
            repeat { engine.tidyEvidence() } while (try? await Task.sleep(for: .seconds(60))) != nil
        }
        // Also when the group is cancelled, because another service failed.
        try? await gracefulShutdown()
        await folder.close()
    }
}
