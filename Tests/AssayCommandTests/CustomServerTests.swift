import AssayCore
import AssayCrypto
import AssayTestSupport
import Foundation
import Testing

/// The program of the package in Tests/Examples/CustomServer, which was compiled as outside of this one.
@Suite("A program with a plugin of its own")
struct CustomServerTests {
    private static let program = "till-server"
    private static let policies = repository.appendingPathComponent("Tests/Examples/CustomServer/policies").path
    private static let key = "5e1f0c2b7a8d9e3f4c6b5a4d3e2f1c0b"
    private static let app = "projects/example-project/apps/1:1234567890:android:321abc456def7890"

    private func run(_ arguments: String..., key: String = key) async throws -> AssayProcess.Result {
        try await AssayProcess(arguments, of: Self.program, environment: ["TILL_1_KEY": key]).result()
    }

    @Test("Its main file has at most 15 lines")
    func length() throws {
        let main = repository.appendingPathComponent("Tests/Examples/CustomServer/Sources/till-server/main.swift")
        let lines = try String(contentsOf: main, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 16, "a last line break ends the fifteenth")
    }

    @Test("It has every subcommand of assay and its own, under its own name and version")
    func subcommands() async throws {
        #expect(try await run("--version").lines == ["1.4.0"])
        let help = try await run("--help").output
        let names = { (text: String) in
            Set(
                text.components(separatedBy: "SUBCOMMANDS:").last?.split(separator: "\n")
                    .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
                    .compactMap { $0.split(separator: " ").first.map(String.init) } ?? [])
        }
        let own = names(help)
        #expect(own == names(try await AssayProcess.run("--help").output).union(["till-key"]))
        #expect(own.isSuperset(of: ["serve", "policy", "keys", "state", "methods", "reasons", "metrics", "verify"]))
        for name in own.filter({ $0.first?.isLowercase ?? false }) + [
            "policy check", "keys prepare", "verify app-attest",
        ] {
            let page = try await AssayProcess(
                name.split(separator: " ").map(String.init) + ["--help"], of: Self.program
            )
            .result().output
            #expect(page.contains("USAGE: till-server \(name)"))
            #expect(!page.contains("`assay "), "\(name)")
        }
    }

    @Test("Its errors begin with its name")
    func errors() async throws {
        let unknown = try await run("reasons", "nothing")
        #expect(unknown.status == 2)
        #expect(unknown.errors == "till-server: unknown reason 'nothing'; `till-server reasons` lists all\n")
        #expect(try await run("nothing").errors.contains("till-server --help"))
        #expect(
            try await run("till-key", "a b").errors
                == "till-server: the name of a till has letters, digits and hyphens\n")
        #expect(try await run("till-key", "till-2").lines.last == "- {name: till-2, key: file:till-2.key}")
    }

    @Test("Policies name its provider, and errors in the provider's section have their place")
    func policyCheck() async throws {
        #expect(try await run("policy", "check", Self.policies).status == 0)
        let short = try await run("policy", "check", Self.policies, key: "short")
        #expect(short.status == 1)
        #expect(
            short.errors.contains("shop.yaml:9:37: projects[0].apps[0].providers.till.tills[0].key"), "\(short.errors)")
        #expect(short.errors.contains("env:TILL_1_KEY cannot be read, or has less than 32 bytes"))
    }

    @Test("Its provider is in everything that the program lists")
    func lists() async throws {
        #expect(try await run("policy", "schema").output.contains("The tills that are trusted."))
        #expect(try await run("policy", "keys").output.contains("tills[].name"))
        #expect(try await run("reasons", "till_code_wrong").output.contains("Refused by:  till"))
        #expect(try await run("metrics").status == 0)
        #expect(try await run("metrics", "--markdown").output.contains("`till`, `mint`"))
        #expect(try await run("methods").lines.contains("exchangeTillCode"))
        let document = try JSON.parse(
            Array(try await run("methods", "--format", "openapi").output.utf8),
            limits: JSON.Limits(bytes: 1 << 22, depth: 64, values: 100_000, allowsRepeatedNames: false))
        #expect(document["info"]?["title"] == "Till-server")
        #expect(document["info"]?["version"] == "1.4.0")
        #expect(document["paths"]?.members?.contains { $0.name.hasSuffix(":exchangeTillCode") } == true)
    }

    @Test("It serves an exchange of its provider, and refuses a wrong code")
    func exchange() async throws {
        try await withTemporaryFolder { folder in
            let server = try await AssayServer(
                in: folder, of: Self.program, arguments: ["--policies", Self.policies],
                environment: ["TILL_1_KEY": Self.key])
            let post = { (method: String, body: JSON) in
                try await server.post(to: try #require(URL(string: "\(server.base)/v1/\(Self.app):\(method)")), body)
            }
            let code = HMACSHA256(key: Array(Self.key.utf8))
            for isGood in [true, false] {
                let challenge = try #require(
                    try await post("generateTillChallenge", [:]).body["challenge"]?.string.flatMap { Base64.decode($0) }
                )
                let answer = code.authenticate(challenge[(isGood ? 0 : 1)...])
                let reply = try await post(
                    "exchangeTillCode",
                    [
                        "till": "till-1", "challenge": .string(Base64.encode(challenge)),
                        "code": .string(Base64.encode(answer)),
                    ])
                #expect(reply.status == (isGood ? 200 : 403), "\(reply.body)")
                #expect((reply.body["token"]?.string != nil) == isGood)
            }
            #expect(try await post("exchangeRecaptchaV3Token", [:]).status == 400)
            #expect(server.process.errorsSoFar.contains("reason=till_code_wrong"))
            #expect(await server.end(SIGTERM).errors.contains("version=1.4.0"))
        }
    }
}
