#if Simulator
internal import AssayCommand
internal import AssayCore
internal import AssayEngine
internal import AssayHTTPServer
internal import AssayKit
internal import AssayPolicy
internal import AssayServer
internal import AssayServices
internal import Logging
internal import ServiceLifecycle
internal import Synchronization
internal import UnixSignals

/// The server of the demonstration: the real one, with state and keys in a folder of its own.
final class DemoServer: Sendable, DecisionSink {
    private let group: ServiceGroup
    private let store: OpenStore
    private let addresses: AsyncStream<String>
    private let records: DemoRecords

    init(folder: String, policy: String, http: any OutboundHTTP) async throws {
        let logger = Logger(label: "assay.demo", factory: { _ in SwiftLogNoOpLogHandler() })
        let registry = try Registry(.standard, administration: .api, unoffered: .appCheck)
        let store = try await registry.openStore("sqlite:\(folder)/state.sqlite")
        let host = PluginHost(store: store.store, http: http, logger: logger)
        let records = DemoRecords()
        let engine = try Engine(
            registry: registry, policies: .load([PolicyFile(name: "demo.yaml", text: policy)]),
            keys: .directory("\(folder)/keys"), host: host, sink: records)
        let (addresses, announce) = AsyncStream.makeStream(of: String.self)
        let service = try HTTPService(
            handler: engine, configuration: HTTPConfiguration(address: .host("127.0.0.1", port: 0)), logger: logger
        ) { address in
            announce.yield("http://\(address)")
        }
        self.store = store
        self.records = records
        self.addresses = addresses
        self.group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: service, successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .cancelGroup)
                ], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
    }

    /// Serves while `body` runs, which gets the address, and drains afterwards.
    func run<Value: Sendable>(_ body: @escaping @Sendable (String) async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { tasks in
            tasks.addTask {
                try await self.group.run()
                return nil
            }
            tasks.addTask {
                guard let base = await self.addresses.first(where: { _ in true }) else { throw CancellationError() }
                do {
                    let value = try await body(base)
                    await self.group.triggerGracefulShutdown()
                    return value
                } catch {
                    await self.group.triggerGracefulShutdown()
                    throw error
                }
            }
            defer { tasks.cancelAll() }
            var result: Value?
            do {
                while let finished = try await tasks.next() {
                    if let finished { result = finished } else { tasks.cancelAll() }
                }
            } catch {
                await store.close()
                throw error
            }
            await store.close()
            guard let result else { throw CancellationError() }
            return result
        }
    }

    /// Returns when the server has ended, because the process was told to.
    func waitForTheEnd() async {
        // The task is cancelled then; until that happens there is nothing to do.
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
    }

    /// Why a decision ended as it did; nil when nothing was refused.
    func reason(of decision: String) -> Reason? {
        records.reason(of: decision)
    }

    func record(_ record: DecisionRecord) {
        records.record(record)
    }
}

/// Remembers the decisions of a demonstration.
private final class DemoRecords: DecisionSink {
    private let reasons = Mutex<[String: Reason]>([:])

    func record(_ record: DecisionRecord) {
        guard case .refused(let reason) = record.outcome else { return }
        reasons.withLock { $0[record.decision.text] = reason }
    }

    func reason(of decision: String) -> Reason? {
        reasons.withLock { $0[decision] }
    }
}
#endif
