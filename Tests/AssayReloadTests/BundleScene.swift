import AssayCore
import AssayCrypto
import AssayDebug
import AssayEngine
import AssayHTTPClient
import AssayKit
import AssayPolicy
import AssayServer
import AssayServices
import AssayTesting
import AssayTestingHTTP
import AssayTestSupport
import Foundation
import Logging
import Synchronization
import Testing

/// A web server with one bundle, and what it was asked.
final class BundleServer: Sendable {
    struct Content {
        var status = 200
        var headers: [OutboundHeader] = []
        var body: [UInt8] = []
        var etag: String?
        /// Whether the end of the body never comes.
        var stalls = false
    }

    private let state = Mutex((content: Content(), requests: [OutboundRequest]()))

    var requests: [OutboundRequest] { state.withLock { $0.requests } }

    func upload(_ body: [UInt8], etag: String? = nil) {
        state.withLock { $0.content = Content(body: body, etag: etag) }
    }

    func answer(_ status: Int, _ headers: [OutboundHeader] = [], body: [UInt8] = []) {
        state.withLock { $0.content = Content(status: status, headers: headers, body: body) }
    }

    func stall(_ body: [UInt8]) {
        state.withLock { $0.content = Content(body: body, stalls: true) }
    }

    func answer(_ request: OutboundRequest) -> ScriptedAnswer {
        let content = state.withLock { state in
            state.requests.append(request)
            return state.content
        }
        var headers = content.headers
        if let etag = content.etag {
            headers.append(OutboundHeader("ETag", etag))
            if request.header("if-none-match") == etag {
                return .respond(OutboundResponse(status: 304, headers: headers))
            }
        }
        let response = OutboundResponse(status: content.status, headers: headers, body: content.body)
        return content.stalls ? .stall(response) : .respond(response)
    }
}

/// A folder with keys and what is kept, and a server with HTTPS.
final class BundleScene: Sendable {
    let folder: URL
    let server = BundleServer()
    let log = RecordingLog()
    let key: PrivateKey
    private let identity: TestIdentity
    private let client: HTTPClientService

    static func run(_ body: @escaping @Sendable (BundleScene, _ url: EndpointURL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let scene = try BundleScene(folder)
            try await scene.serve { try await body(scene, $0) }
            await scene.client.shutDown()
        }
    }

    private init(_ folder: URL) throws {
        self.folder = folder
        key = try PrivateKey.generate(.ec(.p256))
        identity = try TestIdentity()
        client = try Self.client(identity, responseBytes: PolicyBundle.byteLimit + 65_536)
        try write(key: key.publicKey)
    }

    private static func client(_ identity: TestIdentity, responseBytes: Int) throws -> HTTPClientService {
        try HTTPClientService(
            HTTPClientOptions(
                additionalTrustRoots: HTTPClientOptions.certificates(pem: Array(identity.certificatePEM.utf8)),
                responseBytes: responseBytes))
    }

    /// Another client that trusts the server.
    func client(responseBytes: Int) throws -> HTTPClientService {
        try Self.client(identity, responseBytes: responseBytes)
    }

    private func serve(_ body: @escaping @Sendable (EndpointURL) async throws -> Void) async throws {
        let certificates = try HTTPClientOptions.certificates(pem: Array(identity.certificatePEM.utf8))
        let local = LocalServer(identity: .init(certificates: certificates, privateKeyPEM: identity.keyPEM)) {
            [server] in server.answer($0)
        }
        try await local.run { port in
            try await body(try #require(EndpointURL("https://localhost:\(port)/fleet/assay.bundle?secret=1")))
        }
    }

    var keyFile: String { folder.appendingPathComponent("policies.pub").path }
    var kept: URL { folder.appendingPathComponent("kept/policies.bundle") }
    var newest: URL { folder.appendingPathComponent("kept/newest.json") }

    func write(key: PublicKey) throws { try Data(key.pem()).write(to: URL(fileURLWithPath: keyFile)) }

    /// A bundle whose policies have that many apps.
    func bundle(
        _ version: Int64, apps: Int = 1, extra: String = "", issued: Instant = HostClock.system.now,
        expires: Instant? = nil, key: PrivateKey? = nil
    ) throws -> [UInt8] {
        let list = (0..<apps).map { "{id: \"1:1:ios:a\($0)\", providers: {debug: {}}}" }.joined(separator: ", ")
        let text = "projects:\n  - {number: 1, id: a, \(extra)apps: [\(list)]}\n"
        return try PolicyBundle(
            [PolicyFile(name: "a.yaml", text: text)], version: version, issued: issued, expires: expires
        ).signed(with: key ?? self.key)
    }

    /// What a server that is started now has.
    ///
    /// - Parameter client: another than the one that trusts the server.
    func source(
        _ url: EndpointURL, client: (any OutboundHTTP)? = nil, timeLimit: Duration = .seconds(20),
        clock: HostClock = .system
    ) async throws -> PolicyBundleSource {
        let options = PolicyBundleOptions(
            url: url, keyFiles: [keyFile], folder: folder.appendingPathComponent("kept").path, timeLimit: timeLimit)
        let source = try PolicyBundleSource(options, http: client ?? self.client, clock: clock, logger: log.logger)
        await source.poll()
        return source
    }

    /// Starts an engine from a source.
    func start(_ source: PolicyBundleSource) throws -> (engine: Engine, policies: PolicySet) {
        let (engine, policies) = try source.start { policies in
            try Engine(
                registry: Registry([.provider(DebugProvider.self)]), policies: policies, keys: .ephemeral(),
                host: PluginHost(
                    store: MemoryStore(clock: .system),
                    logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })))
        }
        return (engine, policies)
    }
}

extension Readiness {
    /// Why it is degraded; empty when it is ready.
    var reason: String {
        switch self {
        case .ready: ""
        case .degraded(let reason), .notReady(let reason): reason
        }
    }
}
