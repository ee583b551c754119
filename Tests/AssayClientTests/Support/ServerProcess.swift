import AssayClient
import AssayCore
import AssayCrypto
import AssayTestSupport
import AssayTesting
import Foundation
import Glibc
import SwiftOverlayShims
import Synchronization
import Testing

/// `assay serve` in a process, with an app, a backend behind a proxy, Fleet Engine's tokens for users' trips, and an
/// OAuth client.
struct ServerProcess {
    static let debugToken = "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10"
    /// The bearer token of the authorization server, which asks about clients.
    static let caller = "authorization-server-0123456789"
    private static let issuer = "https://login.example.com/"

    let base: String
    let authority: SimulatedAppleCA
    private let folder: URL
    private let running: Running
    private let users: JWSSigner

    /// The process, in place of which another one may run later.
    private final class Running: Sendable {
        private let state: Mutex<AssayProcess>

        init(_ process: AssayProcess) { state = Mutex(process) }

        var process: AssayProcess {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    /// Starts a server in an empty folder.
    init(in folder: URL) async throws {
        authority = try SimulatedAppleCA(at: HostClock.system.now)
        let policies = folder.appendingPathComponent("policies")
        try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
        let key = try PrivateKey.generate(.ec(.p256))
        users = try JWSSigner(key: key, keyID: "users-1", algorithm: .es256)
        try Data(JWKSet([JWK(signing: key.publicKey, keyID: "users-1")]).json.encoded)
            .write(to: folder.appendingPathComponent("users.json"))
        let account: JSON = [
            "type": "service_account", "project_id": "example-project", "private_key_id": "test-1",
            "private_key": .string(
                try PrivateKey.generate(.rsa(bits: 2048)).pem().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }),
            "client_email": "fleet-engine@example-project.iam.gserviceaccount.com",
        ]
        #expect(
            FileManager.default.createFile(
                atPath: folder.appendingPathComponent("account.json").path, contents: Data(account.encoded),
                attributes: [.posixPermissions: 0o600]))
        try Data(Self.policy(authority, in: folder).utf8).write(to: policies.appendingPathComponent("policy.yaml"))

        self.folder = folder
        let process: AssayProcess
        (process, base) = try await Self.launch(in: folder, "127.0.0.1:0")
        running = Running(process)
    }

    private static func launch(in folder: URL, _ address: String) async throws -> (AssayProcess, String) {
        let process = try AssayProcess(
            ["serve", "--listen", address, "--state", "memory", "--keys", "keys"],
            environment: ["ASSAY_DEBUG_TOKEN": debugToken], folder: folder)
        let start = ContinuousClock.now
        while !process.outputSoFar.contains("\n") {
            try #require(process.process.isRunning, "\(process.errorsSoFar)")
            try #require(ContinuousClock.now - start < .seconds(60), "the server does not start")
            try await Task.sleep(for: .milliseconds(10))
        }
        let line = try #require(process.outputSoFar.split(separator: "\n").first)
        return (process, String(line.split(separator: " ").last ?? ""))
    }

    /// Ends the server as a crash does.
    func kill() async throws {
        let process = running.process.process
        #expect(Glibc.kill(process.processIdentifier, SIGKILL) == 0)
        try await eventually("the server is dead") { !process.isRunning }
    }

    /// Starts it again, at the same address, with the same keys and without the state of the former process.
    func start() async throws {
        let address = base.replacing("http://", with: "")
        running.process = try await Self.launch(in: folder, address).0
    }

    /// Runs something with a server, and ends the server.
    static func with(_ body: (ServerProcess) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let server = try await ServerProcess(in: folder)
            defer { server.running.process.process.terminate() }
            try await body(server)
        }
    }

    /// Whether the log has a line about a decision.
    func hasLogged(_ decision: String) -> Bool { running.process.errorsSoFar.contains(decision) }

    /// The JWT of a user whose trip it is.
    func user(trip: String) throws -> String {
        let now = HostClock.system.now.seconds
        let claims: JSON = [
            "iss": .string(Self.issuer), "sub": "user-1", "aud": "https://assay.example.com", "iat": .integer(now),
            "exp": .integer(now + 600), "trip_id": .string(trip),
        ]
        return try users.sign(payload: claims.encoded)
    }

    private static func policy(_ authority: SimulatedAppleCA, in folder: URL) -> String {
        """
        callers:
          login:
            sha256: \(Hex.encode(SHA256.hash(Array(caller.utf8))))
            permissions: [clientAttestations.verify, clientAssertions.verify]
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
                  debug: {tokens: [{name: local, token: 'env:ASSAY_DEBUG_TOKEN'}]}
            consumers:
              custom_backend: {backends: {orders: {}}}
              fleet_engine:
                actors:
                  - issuer: "\(issuer)"
                    audiences: ["https://assay.example.com"]
                    jwks: "file:\(folder.path)/users.json"
                account: "file:\(folder.path)/account.json"
                roles:
                  consumer: {trip: {claim: trip_id}}
              oauth_client:
                authorization_servers: ["https://login.example.com"]
                clients: {"1:1234567890:ios:321abc456def7890": example-ios}
                tokens: {limited_use: true, accept_development: true}
                attester: {ttl: 24h}
                verifier: {challenge: required, dpop_nonce: required}
                client_assertion: {}
        """
    }
}
