import AssayCore
import AssayCrypto
import AssayKit
import AssayTestSupport
import AssayTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A server that runs as `assay serve`, with policies that trust a simulated authority.
struct AssayServer {
    static let app = "projects/example-project/apps/1:1234567890:ios:321abc456def7890"
    static let debugToken = "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10"

    let process: AssayProcess
    let base: String
    let folder: URL
    private let session = URLSession(configuration: .ephemeral)

    /// Starts a server in a folder, which keeps its state and keys from one start to the next.
    ///
    /// - Parameters:
    ///   - program: what `serve` is a subcommand of.
    ///   - descriptors: how many file descriptors it may have.
    ///   - launcher: a program with its arguments that starts it.
    ///   - showsOperations: whether the pages for operators are beside the methods, where the arguments do not say
    ///     where they are.
    ///   - identity: as whom it runs; nil for the user of these tests.
    init(
        in folder: URL, of program: String = "assay", arguments: [String] = [], environment: [String: String] = [:],
        descriptors: Int? = nil, showsOperations: Bool = true, identity: AssayProcess.Identity? = nil,
        launcher: [String] = []
    ) async throws {
        self.folder = folder
        let operations = arguments.contains("--operations") || !showsOperations ? [] : ["--operations", "public"]
        // The machine of these tests has more to do than it can, which is no reason to refuse what they ask.
        let patience = arguments.contains("--max-queue-time") ? [] : ["--max-queue-time", "0"]
        process = try AssayProcess(
            ["serve", "--listen", "127.0.0.1:0", "--state", "sqlite:state.sqlite"] + operations + patience + arguments,
            of: program, environment: environment, folder: folder, descriptors: descriptors, identity: identity,
            launcher: launcher)
        let start = ContinuousClock.now
        while !process.outputSoFar.contains("\n") {
            try #require(process.process.isRunning, "\(process.errorsSoFar)")
            try #require(ContinuousClock.now - start < .seconds(60), "the server does not start")
            try await Task.sleep(for: .milliseconds(10))
        }
        var line = try #require(process.outputSoFar.split(separator: "\n").first)
        if arguments.contains("json") {
            let entry = try JSON.parse(Array(line.utf8))
            line = Substring(try #require(entry["message"]?.string))
            #expect(line.hasSuffix(try #require(entry["url"]?.string)))
        }
        let scheme = arguments.contains("--tls-certificate") ? "https" : "http"
        #expect(line.hasPrefix("\(program) listens on \(scheme)://127.0.0.1:"))
        base = String(try #require(line.split(separator: " ").last))
    }

    /// Writes the policies of a folder.
    static func writePolicy(in folder: URL, trusting authority: SimulatedAppleCA) throws {
        let policies = folder.appendingPathComponent("policies")
        try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
        let text = """
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
                      debug: {tokens: [{name: local, token: 'env:ASSAY_DEBUG_TOKEN', optional: true}]}
            """
        try Data(text.utf8).write(to: policies.appendingPathComponent("policy.yaml"))
    }

    func get(_ path: String) async throws -> (status: Int, body: JSON) {
        let url = try #require(URL(string: base + path))
        return try await send(URLRequest(url: url))
    }

    /// A page as text.
    func text(_ path: String) async throws -> String {
        let (data, _) = try await session.data(from: try #require(URL(string: base + path)))
        return String(decoding: data, as: UTF8.self)
    }

    /// A page as text, by its whole URL.
    func page(_ url: String) async throws -> String {
        let (data, _) = try await session.data(from: try #require(URL(string: url)))
        return String(decoding: data, as: UTF8.self)
    }

    /// The status that a whole URL is answered with.
    func status(_ url: String) async throws -> Int? {
        (try await session.data(from: try #require(URL(string: url))).1 as? HTTPURLResponse)?.statusCode
    }

    func post(_ method: String, _ body: JSON? = nil) async throws -> (status: Int, body: JSON) {
        try await post(to: try #require(URL(string: "\(base)/v1/\(Self.app):\(method)")), body)
    }

    func post(to url: URL, _ body: JSON? = nil) async throws -> (status: Int, body: JSON) {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = body.map { Data($0.encoded) }
        return try await send(request)
    }

    func challenge() async throws -> [UInt8] {
        try #require(
            try await post("generateAppAttestChallenge").body["challenge"]?.string.flatMap { Base64.decode($0) })
    }

    func attest(
        _ device: SimulatedDevice, _ keyID: String, challenge: [UInt8]
    ) async throws -> (status: Int, body: JSON) {
        let attestation = try device.attestKey(
            keyID, clientDataHash: SHA256.hash(challenge), app: Self.simulatedApp, at: HostClock.system.now)
        return try await post(
            "exchangeAppAttestAttestation",
            [
                "key_id": .string(keyID), "attestation_statement": .string(Base64.encode(attestation)),
                "challenge": .string(Base64.encode(challenge)), "limited_use": false,
            ])
    }

    /// - Parameter counter: in place of the next one.
    func assert(
        _ device: SimulatedDevice, _ keyID: String, _ artifact: [UInt8], counter: UInt32? = nil
    ) async throws -> (status: Int, body: JSON) {
        let challenge = try await challenge()
        var options = AssertionOptions()
        if let counter { options.authenticatorData = { $0.counter = counter } }
        let assertion = try device.generateAssertion(
            keyID, clientDataHash: SHA256.hash(artifact, challenge), app: Self.simulatedApp, options: options)
        return try await post(
            "exchangeAppAttestAssertion",
            [
                "artifact": .string(Base64.encode(artifact)), "assertion": .string(Base64.encode(assertion)),
                "challenge": .string(Base64.encode(challenge)), "limited_use": false,
            ])
    }

    /// Ends the process with a signal, and waits for it.
    func end(_ signal: Int32) async -> AssayProcess.Result {
        kill(process.process.processIdentifier, signal)
        return await process.result()
    }

    static let simulatedApp = SimulatedApp(appID: "ABCDE12345.com.example.app", environment: .production)

    private func send(_ request: URLRequest) async throws -> (status: Int, body: JSON) {
        let (data, response) = try await session.data(for: request)
        return (try #require(response as? HTTPURLResponse).statusCode, try JSON.parse(data))
    }
}

/// Waits until something is so, for two minutes at most.
func eventually(
    _ what: String, _ location: SourceLocation = #_sourceLocation, _ isSo: () async throws -> Bool
) async throws {
    let start = ContinuousClock.now
    while try await !isSo() {
        try #require(ContinuousClock.now - start < .seconds(120), "\(what)", sourceLocation: location)
        try await Task.sleep(for: .milliseconds(20))
    }
}
