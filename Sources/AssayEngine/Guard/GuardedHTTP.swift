internal import AssayCore
internal import AssayKit

/// The host's HTTP client as a plugin gets it: counts calls, and does not use the plugin's threads.
final class GuardedHTTP: OutboundHTTP {
    private let client: any OutboundHTTP
    private let plugin: PluginGuard
    private let host: PluginHost

    init(_ client: any OutboundHTTP, of plugin: PluginGuard, host: PluginHost) {
        self.client = client
        self.plugin = plugin
        self.host = host
    }

    /// Whether it passes calls on to a client.
    func wraps(_ client: any OutboundHTTP) -> Bool { self.client === client }

    func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        if let budget = CallBudget.current, !budget.takesOutboundCall(plugin.limits) {
            plugin.count(.outboundCalls, host)
            throw OutboundFailure(.busy, "the call has made all \(plugin.limits.outboundCalls) calls that it may make")
        }
        guard plugin.isIsolated else { return try await client.send(request) }
        let client = client
        let result = await withTaskExecutorPreference(globalConcurrentExecutor) {
            await Result { () async throws(OutboundFailure) in try await client.send(request) }
        }
        return try result.get()
    }
}

extension Result {
    /// The result of an operation.
    init(_ operation: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await operation())
        } catch {
            self = .failure(error)
        }
    }
}
