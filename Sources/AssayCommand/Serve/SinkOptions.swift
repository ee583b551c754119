internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayRecords
internal import Logging
internal import ServiceLifecycle

/// Where decisions are sent in addition to the log and the audit file.
struct SinkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            A sink that receives the record of each decision, such as webhook:URL; may be given several times. Decisions \
            do not wait for it.
            """, valueName: "scheme:location"))
    var sink: [String] = []

    @Flag(
        help: """
            Answer with "unavailable", and report "not ready", while a sink cannot take records. Without this, decisions \
            go on; /readyz, /metrics and the log report the loss.
            """)
    var sinkRequired = false

    private static let limit = 8

    func validate() throws {
        if sinkRequired, sink.isEmpty { throw ValidationError("--sink-required needs --sink SCHEME:LOCATION") }
        guard sink.count <= Self.limit else { throw ValidationError("--sink may be given \(Self.limit) times") }
    }

    /// Opens all sinks.
    ///
    /// - Throws: `DecisionSinkError` for the first that cannot be opened, after the others were closed.
    func open(_ registry: Registry, _ host: StorageHost) async throws -> [SinkQueue] {
        var queues: [SinkQueue] = []
        var counts: [ExactText: Int] = [:]
        for name in sink {
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

    /// What keeps the engine from deciding.
    func blockingReason(_ queues: [SinkQueue]) -> (@Sendable () -> String?)? {
        guard sinkRequired, !queues.isEmpty else { return nil }
        return {
            for queue in queues {
                if let reason = queue.blockingReason { return reason }
            }
            return nil
        }
    }

    /// What `/readyz` asks.
    func checks(_ queues: [SinkQueue]) -> [@Sendable () async -> Readiness] {
        queues.map { queue in { queue.readiness } }
    }
}

/// Passes records on to a sink until the end, and then what still waits.
///
/// It comes before all that makes decisions among the services, and so ends after them.
struct SinkService: Service {
    let queue: SinkQueue

    func run() async {
        await cancelWhenGracefulShutdown { await queue.run() }
        // Also when the group is cancelled, because another service failed.
        try? await gracefulShutdown()
        await queue.close()
    }
}
