import AssayCore
import AssayCrypto
import AssayTestSupport
import Foundation
import Testing

/// `assay serve` with an app that has every kind of provider and consumer, and a home for the user of `assay token`.
private struct TokenScene {
    static let app = "projects/example-project/apps/1:1234567890:ios:321abc456def7890"
    static let debugToken = "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10"
    static let bundle = ["--authority", "authority", "--bundle", "ABCDE12345.com.example.app"]

    let base: String
    let folder: URL
    let server: AssayProcess
    private let users: JWSSigner

    static func with(_ body: (TokenScene) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let scene = try await TokenScene(in: folder)
            defer { scene.server.process.terminate() }
            try await body(scene)
        }
    }

    private init(in folder: URL) async throws {
        self.folder = folder
        let made = try await AssayProcess.run("token", "authority", "authority", folder: folder)
        try #require(made.status == 0, "\(made.errors)")
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
        try Self.write(account.encoded, folder.appendingPathComponent("account.json"))
        let policies = folder.appendingPathComponent("policies")
        try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
        let trust = made.lines.map { "          \($0)" }.joined(separator: "\n")
        try Data(Self.policy(trust, folder.path).utf8).write(to: policies.appendingPathComponent("policy.yaml"))
        server = try await Self.serve(in: folder)
        base = String(try #require(server.outputSoFar.split(separator: "\n").first?.split(separator: " ").last))
    }

    private static func serve(
        at address: String = "127.0.0.1:0", debugToken: String = debugToken, in folder: URL
    ) async throws -> AssayProcess {
        let server = try AssayProcess(
            ["serve", "--listen", address, "--state", "memory", "--keys", "keys"],
            environment: ["ASSAY_DEBUG_TOKEN": debugToken], folder: folder)
        let start = ContinuousClock.now
        while !server.outputSoFar.contains("\n") {
            try #require(server.process.isRunning, "\(server.errorsSoFar)")
            try #require(ContinuousClock.now - start < .seconds(60), "the server does not start")
            try await Task.sleep(for: .milliseconds(10))
        }
        return server
    }

    /// Ends the server, and starts one at the same address that has another debug token; the caller ends it.
    func restarted(debugToken: String) async throws -> AssayProcess {
        server.process.terminate()
        _ = await server.result()
        let address = try #require(URL(string: base)?.port).description
        return try await Self.serve(at: "127.0.0.1:\(address)", debugToken: debugToken, in: folder)
    }

    /// Runs `assay token` for the app.
    func run(
        _ arguments: [String], provider: String = "debug", input: String? = nil, debugToken: String? = debugToken
    ) async throws -> AssayProcess.Result {
        var environment = ["XDG_STATE_HOME": folder.appendingPathComponent("state").path]
        if let debugToken { environment["AppCheckDebugToken"] = debugToken }
        let process = try AssayProcess(
            ["token"] + arguments + ["--app", Self.app, "--endpoint", base, "--provider", provider],
            environment: environment, folder: folder, input: input)
        return await process.result()
    }

    /// The JWT of a user, also for the provider of custom tokens.
    func user(_ claims: [JSONMember]) throws -> String {
        let now = HostClock.system.now.seconds
        let common: JSON = [
            "iss": "https://login.example.com/", "sub": "user-1", "aud": "https://assay.example.com",
            "iat": .integer(now), "exp": .integer(now + 300),
        ]
        return try users.sign(payload: JSON.object((common.members ?? []) + claims).encoded)
    }

    static func write(_ bytes: [UInt8], _ file: URL, mode: Int = 0o600) throws {
        #expect(
            FileManager.default.createFile(
                atPath: file.path, contents: Data(bytes), attributes: [.posixPermissions: mode]))
    }

    private static func policy(_ trust: String, _ folder: String) -> String {
        """
        projects:
          - number: 1234567890
            id: example-project
            apps:
              - id: 1:1234567890:ios:321abc456def7890
                apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                providers:
        \(trust)
                  debug: {tokens: [{name: local, token: 'env:ASSAY_DEBUG_TOKEN'}]}
                  custom:
                    issuers:
                      - issuer: https://login.example.com/
                        audiences: [https://assay.example.com]
                        jwks: "file:\(folder)/users.json"
                        app_claim: app.id
            consumers:
              fleet_engine:
                actors:
                  - issuer: https://login.example.com/
                    audiences: ["https://assay.example.com"]
                    jwks: "file:\(folder)/users.json"
                account: "file:\(folder)/account.json"
                tokens: {accept_development: true}
                roles:
                  consumer: {trip: {claim: trip_id}}
              oauth_client:
                authorization_servers: ["https://login.example.com"]
                clients: {"1:1234567890:ios:321abc456def7890": example-ios}
                tokens: {limited_use: true, accept_development: true}
                attester: {ttl: 24h}
        """
    }
}

@Suite("assay token", .serialized, .timeLimit(.minutes(10)))
struct TokenCommandTests {
    private static func claims(_ output: String) throws -> JSON {
        let payload = output.split(separator: ".").dropFirst().first ?? ""
        return try JSON.parse(try #require(Base64.decode(payload)))
    }

    /// That standard output is one JWT and a line break.
    private static func isToken(_ result: AssayProcess.Result) -> Bool {
        result.status == 0 && result.output.wholeMatch(of: /[\w-]+\.[\w-]+\.[\w-]+\n/) != nil
    }

    @Test("a session token is cached for the user and its provider, and a token for one use is not")
    func cache() async throws {
        try await TokenScene.with { scene in
            let first = try await scene.run(["get"])
            #expect(Self.isToken(first) && first.errors == "", "\(first)")
            #expect(try Self.claims(first.output)["provider"] == "debug")
            #expect(try await scene.run(["get"]).output == first.output)
            // The token of one piece of evidence is not taken for that of another.
            let other = try await scene.run(["get"], debugToken: "11111111-2222-4333-8444-555555555555")
            #expect(other.status == 1 && other.output == "", "\(other)")
            let fresh = try await scene.run(["get", "--fresh"])
            #expect(Self.isToken(fresh) && fresh.output != first.output)
            #expect(try await scene.run(["get"]).output == fresh.output)
            let once = try await scene.run(["limited-use"])
            #expect(Self.isToken(once))
            #expect(try await scene.run(["limited-use"]).output != once.output)
            #expect(try await scene.run(["get"]).output == fresh.output)
            let simulated = try await scene.run(["get"] + TokenScene.bundle, provider: "simulated")
            #expect(try Self.claims(simulated.output)["provider"] == "app_attest")
            // Every value is the user's alone.
            let files = FileManager.default.enumerator(atPath: scene.folder.appendingPathComponent("state").path)
            var count = 0
            while let name = files?.nextObject() as? String {
                let path = scene.folder.appendingPathComponent("state/\(name)").path
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                #expect((mode ?? 0o777) & 0o077 == 0, "\(name)")
                count += 1
            }
            #expect(count > 4)
        }
    }

    @Test("a simulated device is let in by the policy that its authority was printed for, each time")
    func simulated() async throws {
        try await TokenScene.with { scene in
            for _ in 0..<2 {
                let result = try await scene.run(["limited-use"] + TokenScene.bundle, provider: "simulated")
                #expect(Self.isToken(result) && result.errors == "", "\(result)")
            }
            // Of another app, in another environment, and of another authority.
            let other = ["--authority", "authority", "--bundle", "ABCDE12345.com.example.other"]
            _ = try await AssayProcess.run("token", "authority", "another", folder: scene.folder)
            let mistakes = [
                other, TokenScene.bundle + ["--environment", "development"],
                ["--authority", "another", "--bundle", "ABCDE12345.com.example.app"],
            ]
            for arguments in mistakes {
                let result = try await scene.run(["limited-use"] + arguments, provider: "simulated")
                #expect(result.status == 1 && result.output == "", "\(arguments)")
                let decision = try #require(result.errors.firstMatch(of: #/decision (\S+): /#)?.output.1)
                #expect(result.errors.contains("`assay decisions show \(decision)` says why"))
                #expect(scene.server.errorsSoFar.contains(decision))
            }
        }
    }

    @Test("the file of an authority is made once, for its user alone, and prints the same keys each time")
    func authority() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("authority")
            let first = try await AssayProcess.run("token", "authority", file.path)
            #expect(first.status == 0 && first.errors == "")
            #expect(first.lines.dropFirst().first == "app_attest:")
            let content = try Data(contentsOf: file)
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(try await AssayProcess.run("token", "authority", file.path).status == 0)
            #expect(try Data(contentsOf: file) == content)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
            #expect(try await AssayProcess.run("token", "authority", file.path).status == 2)
            try TokenScene.write(Array("something else".utf8), file)
            let other = try await AssayProcess.run("token", "authority", file.path)
            #expect(other.status == 2 && other.output == "" && other.errors.contains("is no file of `token authority`"))
            #expect(try await AssayProcess.run("token", "authority", "/nowhere/authority").status == 2)
        }
    }

    @Test("a custom token comes from standard input or from a file that is the user's alone")
    func custom() async throws {
        try await TokenScene.with { scene in
            let token = try scene.user([
                JSONMember("app", ["id": "1:1234567890:ios:321abc456def7890"]), JSONMember("trip_id", "trip-1"),
            ])
            let first = try await scene.run(["get"], provider: "custom", input: token + "\n")
            #expect(Self.isToken(first), "\(first)")
            #expect(try Self.claims(first.output)["provider"] == "custom")
            // From the cache: nothing is read.
            #expect(try await scene.run(["get"], provider: "custom").output == first.output)
            let file = scene.folder.appendingPathComponent("custom.jwt")
            try TokenScene.write(Array(token.utf8), file)
            let second = try await scene.run(
                ["limited-use", "--custom-token", file.path], provider: "custom")
            #expect(Self.isToken(second))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
            for (arguments, input) in [
                (["--custom-token", file.path], nil), ([], ""), ([], "a b"),
                ([], String(repeating: "a", count: 17_000)),
                (["--custom-token", "/nowhere"], nil),
            ] {
                let result = try await scene.run(["limited-use"] + arguments, provider: "custom", input: input)
                #expect(result.status == 2 && result.output == "", "\(arguments)")
                #expect(result.errors.hasPrefix("assay: invalidConfiguration: "), "\(result.errors)")
            }
            let refused = try await scene.run(["limited-use"], provider: "custom", input: "a.b.c")
            #expect(refused.status == 1 && refused.errors.contains("decision "), "\(refused.errors)")
        }
    }

    @Test("Fleet Engine's token is for the user's own trip")
    func fleet() async throws {
        try await TokenScene.with { scene in
            let user = try scene.user([JSONMember("trip_id", "trip-1")])
            let arguments = ["fleet", "--user-token", "-", "--trip"]
            let result = try await scene.run(arguments + ["trip-1"], input: user)
            #expect(Self.isToken(result) && result.errors == "", "\(result)")
            #expect(try Self.claims(result.output)["authorization"] == ["tripid": "trip-1"])
            let other = try await scene.run(arguments + ["trip-2"], input: user)
            #expect(other.status == 1 && other.output == "" && other.errors.contains("decision "), "\(other)")
            #expect(try await scene.run(["fleet", "--trip", "trip-1"]).status == 1)
        }
    }

    @Test("a client attestation is cached with its key, each authorization server's apart")
    func attestation() async throws {
        try await TokenScene.with { scene in
            let arguments = ["attestation", "--server", "https://login.example.com"]
            let first = try await scene.run(arguments)
            #expect(Self.isToken(first) && first.errors == "", "\(first)")
            let claims = try Self.claims(first.output)
            #expect(claims["sub"] == "example-ios")
            #expect(try await scene.run(arguments).output == first.output)
            let other = try await scene.run(["attestation", "--server", "https://other.example.com"])
            #expect(try Self.claims(other.output)["cnf"] != claims["cnf"])
            let foreign = try await scene.run(arguments + ["--client", "another"])
            #expect(foreign.status == 2 && foreign.output == "" && foreign.errors.contains("foreignToken"))
            #expect(try await scene.run(["attestation", "--server", "login"]).status == 2)
        }
    }

    @Test(
        "a debug token that is not set is printed when it is made and when it is refused, for the operator to register")
    func debugToken() async throws {
        try await TokenScene.with { scene in
            var printed: [String] = []
            for _ in 0..<2 {
                let result = try await scene.run(["get"], debugToken: nil)
                #expect(result.status == 1 && result.output == "")
                printed.append(String(try #require(result.errors.firstMatch(of: /token: '([0-9A-F-]{36})'/)?.output.1)))
            }
            #expect(printed[0] == printed[1])
        }
        // A server that does not answer, and one that does not refuse: the token is told once.
        try await withTemporaryFolder { folder in
            let arguments = [
                "token", "limited-use", "--app", TokenScene.app, "--endpoint", "http://127.0.0.1:1", "--provider",
                "debug",
            ]
            var told: [Bool] = []
            for _ in 0..<3 {
                let process = try AssayProcess(
                    arguments, environment: ["XDG_STATE_HOME": folder.path], folder: folder)
                let result = await process.result()
                #expect(result.status == 2 && result.output == "", "\(result.errors)")
                told.append(result.errors.contains("App Check debug token: '"))
            }
            #expect(told == [true, false, false])
        }
    }

    @Test("a registered debug token is no longer printed, neither for the first token nor for later ones")
    func registeredDebugToken() async throws {
        try await TokenScene.with { scene in
            let refused = try await scene.run(["limited-use"], debugToken: nil)
            let made = String(try #require(refused.errors.firstMatch(of: /token: '([0-9A-F-]{36})'/)?.output.1))
            let server = try await scene.restarted(debugToken: made)
            defer { server.process.terminate() }
            for command in [["get"], ["get"], ["limited-use"], ["get", "--fresh"]] {
                let result = try await scene.run(command, debugToken: nil)
                #expect(Self.isToken(result) && result.errors == "", "\(command): \(result.errors)")
            }
        }
    }

    @Test("a deadline is for all requests together, and shorter than the time for one answer")
    func deadline() async throws {
        let listener = try SilentListener()
        let start = ContinuousClock.now
        let result = try await AssayProcess.run(
            "token", "limited-use", "--app", TokenScene.app, "--endpoint", "http://127.0.0.1:\(listener.port)",
            "--provider", "debug", "--deadline", "2",
            environment: ["AppCheckDebugToken": "a-debug-token", "HOME": "/nowhere"])
        #expect(result.status == 2 && result.output == "")
        #expect(ContinuousClock.now - start > .seconds(2) && ContinuousClock.now - start < .seconds(25))
        #expect(
            result.errors.contains(
                "assay: timedOut: No token came within 2 s, which --deadline sets: http://127.0.0.1"),
            "\(result.errors)")
    }

    @Test("an answer that takes long is announced, and one that does not come is an error")
    func slow() async throws {
        let listener = try SilentListener()
        let start = ContinuousClock.now
        let result = try await AssayProcess.run(
            "token", "limited-use", "--app", TokenScene.app, "--endpoint", "http://127.0.0.1:\(listener.port)",
            "--provider",
            "debug", "--timeout", "2", environment: ["AppCheckDebugToken": "a-debug-token", "HOME": "/nowhere"])
        #expect(result.status == 2 && result.output == "")
        #expect(ContinuousClock.now - start > .seconds(2))
        let announced = "assay: waiting for an answer of http://127.0.0.1:\(listener.port)/v1/\(TokenScene.app)"
        #expect(result.errors.hasPrefix("\(announced):exchangeDebugToken, 2 s at most\n"), "\(result.errors)")
        #expect(result.errors.contains("assay: unreachable: "))
    }

    @Test(
        "bad arguments end the command with 2 and a reason, before anything is sent",
        arguments: [
            (["get"], "--app"), (["get", "--app", "a"], "--provider"),
            (["get", "--app", "a", "--provider", "app_attest"], "provider"),
            (["get", "--app", "a", "--provider", "debug"], "`app` is no resource name"),
            (
                ["get", "--app", "oauthClients/a", "--provider", "debug", "--endpoint", "http://a.example.com"],
                "`endpoint`"
            ),
            (["get", "--app", "oauthClients/a", "--provider", "debug", "--timeout", "0"], "1 to 300"),
            (["get", "--app", "oauthClients/a", "--provider", "debug", "--deadline", "3601"], "1 to 3600"),
            (["get", "--app", "oauthClients/a", "--provider", "debug", "--authority", "a"], "--provider simulated"),
            (["get", "--app", "oauthClients/a", "--provider", "simulated", "--package", "a.b"], "simulated-android"),
            (["get", "--app", "oauthClients/a", "--provider", "simulated-android", "--bundle", "a"], "--environment"),
            (["get", "--app", "oauthClients/a", "--provider", "debug", "--custom-token", "a"], "--provider custom"),
            (["get", "--app", "oauthClients/a", "--provider", "simulated"], "--authority FILE"),
            (
                [
                    "get", "--app", "oauthClients/a", "--provider", "simulated", "--authority", "/nowhere", "--bundle",
                    "a",
                ],
                "--bundle TEAM.bundle"
            ),
            (
                [
                    "get", "--app", "oauthClients/a", "--provider", "simulated", "--authority", "/nowhere", "--bundle",
                    "ABCDE12345.a",
                ], "/nowhere"
            ),
            (["fleet", "--app", "oauthClients/a", "--provider", "debug"], "give one of --vehicle"),
            (
                ["fleet", "--app", "oauthClients/a", "--provider", "debug", "--trip", "a", "--vehicle", "b"],
                "give one of"
            ),
            (["fleet", "--app", "oauthClients/a", "--provider", "debug", "--task", "a"], "--fleet-provider"),
            (["fleet", "--app", "oauthClients/a", "--provider", "debug", "--trip", "a/b"], "no identifier"),
            (["fleet", "--app", "a", "--provider", "custom", "--trip", "a", "--user-token", "-"], "standard input"),
            (["attestation", "--app", "a", "--provider", "debug"], "--server"), (["authority"], "file"),
        ])
    func mistakes(arguments: [String], words: String) async throws {
        let result = try await AssayProcess(
            ["token"] + arguments, environment: ["HOME": "/nowhere", "AppCheckDebugToken": "a-debug-token"]
        ).result()
        #expect(result.status == 2 && result.output == "")
        #expect(result.errors.contains(words), "\(result.errors)")
    }
}

/// Accepts connections and says nothing.
private final class SilentListener: Sendable {
    let port: Int
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
        try #require(isBound)
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }
}
