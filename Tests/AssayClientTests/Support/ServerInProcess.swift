import AssayAppAttest
import AssayClient
import AssayCore
import AssayCustomBackend
import AssayDebug
import AssayEngine
import AssayHTTP
import AssayKit
import AssayPolicy
import AssayTesting
import Logging
import Synchronization

/// A server without sockets: an engine with App Attest behind the gateway, as a transport of clients.
final class ServerInProcess: ClientTransport {
    let clock = ManualClock()
    let authority: SimulatedAppleCA
    private let sink = RecordingSink()
    private let gateway: HTTPGateway
    private let calls = Mutex<[String]>([])
    /// The methods whose replies are lost on the way.
    private let lost = Mutex<Set<String>>([])

    /// - Parameter namesKey: whether tokens name the device's key.
    init(authority: SimulatedAppleCA? = nil, namesKey: Bool = false) throws {
        let authority = try authority ?? SimulatedAppleCA(at: clock.now)
        self.authority = authority
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let engine = try Engine(
            registry: Registry([
                .provider(AssayAppAttest.AppAttestProvider.self), .consumer(CustomBackendConsumer.self),
            ]),
            policies: .load([PolicyFile(name: "test.yaml", text: Self.policy(authority, namesKey: namesKey))]),
            keys: .pooled(),
            host: PluginHost(
                clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock), logger: logger), sink: sink)
        gateway = try HTTPGateway(handler: engine, logger: logger)
    }

    /// The methods that were called, in order.
    var methods: [String] { calls.withLock { $0 } }

    /// Whether a record of the server has this identifier.
    func hasDecided(_ decision: String) -> Bool {
        sink.records.contains { $0.decision.text == decision }
    }

    func loseReplies(of method: String) { _ = lost.withLock { $0.insert(method) } }
    func findReplies() { lost.withLock { $0 = [] } }

    func send(_ request: ClientRequest) async throws -> ClientResponse {
        let target = request.url.dropFirst("https://assay.example.com".count)
        let method = String(target.split(separator: ":").last ?? "")
        calls.withLock { $0.append(method) }
        let reply = await gateway.reply(
            to: GatewayRequest(
                method: request.method, target: String(target),
                headers: HeaderFields(request.headers.map { (name: $0.name, value: $0.value) }),
                body: request.body), peer: "192.0.2.1")
        struct ReplyLost: Error {}
        if lost.withLock({ $0.contains(method) }) { throw ReplyLost() }
        return ClientResponse(
            status: reply.status.code, headers: reply.headers.map { ClientHeader($0.name, $0.value) }, body: reply.body)
    }

    /// What a backend behind a proxy that asks this server answers to a request of its client.
    func backend(_ request: ClientRequest, path: String) async -> ClientResponse {
        var headers = request.headers.map { (name: $0.name, value: $0.value) }
        headers += [("X-Original-Method", request.method), ("X-Original-URI", path)]
        let reply = await gateway.reply(
            to: GatewayRequest(method: "GET", target: "/verify/orders", headers: HeaderFields(headers), body: []),
            peer: "192.0.2.1")
        return ClientResponse(status: reply.status.code)
    }

    private static func policy(_ authority: SimulatedAppleCA, namesKey: Bool) -> String {
        """
        projects:
          - number: 1234567890
            id: example-project
            apps:
              - id: 1:1234567890:ios:321abc456def7890
                apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                providers:
                  app_attest:
                    key_in_tokens: \(namesKey)
                    trust_anchor: "\(authority.rootCertificatePEM.replacing("\n", with: "\\n"))"
                    receipt_trust_anchor: "\(authority.receiptRootCertificatePEM.replacing("\n", with: "\\n"))"
            consumers:
              custom_backend:
                backends:
                  orders: {original_request: x-original, request_proof: {authorities: [api.example.com]}}
        """
    }
}

extension SimulatedAttestingDevice {
    /// A device that a server in the process trusts.
    convenience init(
        _ server: ServerInProcess, appID: String = "ABCDE12345.com.example.app", isSupported: Bool = true
    ) {
        self.init(
            SimulatedDevice(authority: server.authority), app: SimulatedApp(appID: appID, environment: .production),
            isSupported: isSupported, now: { [clock = server.clock] in clock.now })
    }

    /// A device of the present time.
    convenience init(authority: SimulatedAppleCA) {
        self.init(
            SimulatedDevice(authority: authority),
            app: SimulatedApp(appID: "ABCDE12345.com.example.app", environment: .production))
    }
}
