import AssayAppAttest
import AssayClient
import AssayCore
import AssayDebug
import AssayEngine
import AssayHTTP
import AssayHosting
import AssayKit
import AssayPolicy
import AssayState
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

    init(authority: SimulatedAppleCA? = nil) throws {
        let authority = try authority ?? SimulatedAppleCA(at: clock.now)
        self.authority = authority
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let engine = try Engine(
            registry: Registry([.provider(AssayAppAttest.AppAttestProvider.self)]),
            policies: .load([PolicyFile(name: "test.yaml", text: Self.policy(authority))]), keys: .ephemeral(),
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

    private static func policy(_ authority: SimulatedAppleCA) -> String {
        """
        projects:
          - number: 1234567890
            id: example-project
            apps:
              - id: 1:1234567890:ios:321abc456def7890
                apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                providers:
                  app_attest:
                    trust_anchor: "\(authority.rootCertificatePEM.replacing("\n", with: "\\n"))"
                    receipt_trust_anchor: "\(authority.receiptRootCertificatePEM.replacing("\n", with: "\\n"))"
        """
    }
}

/// A simulated device that keeps Apple's rule: a key is attested once.
final class DeviceInProcess: AttestingDevice {
    private struct State {
        var made = 0
        var attested: Set<String> = []
        var failures: [DeviceError.Kind] = []
    }

    private let device: SimulatedDevice
    private let app: SimulatedApp
    private let now: @Sendable () -> Instant
    private let state = Mutex(State())
    let isSupported: Bool

    init(_ server: ServerInProcess, appID: String = "ABCDE12345.com.example.app", isSupported: Bool = true) {
        device = SimulatedDevice(authority: server.authority)
        app = SimulatedApp(appID: appID, environment: .production)
        now = { [clock = server.clock] in clock.now }
        self.isSupported = isSupported
    }

    /// A device of the present time.
    init(authority: SimulatedAppleCA) {
        device = SimulatedDevice(authority: authority)
        app = SimulatedApp(appID: "ABCDE12345.com.example.app", environment: .production)
        now = { HostClock.system.now }
        isSupported = true
    }

    var keysMade: Int { state.withLock { $0.made } }

    /// Has the next calls fail.
    func fail(_ kinds: DeviceError.Kind...) { state.withLock { $0.failures += kinds } }

    func generateKey() async throws(DeviceError) -> String {
        state.withLock { $0.made += 1 }
        return try simulated { () throws(SimulationError) in try device.generateKey() }
    }

    func attestKey(_ keyID: String, clientDataHash: [UInt8]) async throws(DeviceError) -> [UInt8] {
        try failIfAsked()
        guard state.withLock({ $0.attested.insert(keyID).inserted }) else { throw DeviceError(.invalidKey) }
        return try simulated { () throws(SimulationError) in
            try device.attestKey(keyID, clientDataHash: clientDataHash, app: app, at: now())
        }
    }

    func generateAssertion(_ keyID: String, clientDataHash: [UInt8]) async throws(DeviceError) -> [UInt8] {
        try failIfAsked()
        return try simulated { () throws(SimulationError) in
            try device.generateAssertion(keyID, clientDataHash: clientDataHash, app: app)
        }
    }

    private func failIfAsked() throws(DeviceError) {
        let kind = state.withLock { $0.failures.isEmpty ? nil : $0.failures.removeFirst() }
        if let kind { throw DeviceError(kind) }
    }

    private func simulated<Value>(_ body: () throws(SimulationError) -> Value) throws(DeviceError) -> Value {
        do { return try body() } catch { throw DeviceError(.invalidKey, cause: error) }
    }
}
