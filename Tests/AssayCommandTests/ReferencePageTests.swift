import AssayCore
import AssayEngine
import AssayKit
import AssayServer
import AssayServices
import AssayStandard
import AssayTestSupport
import AssayTesting
import Foundation
import Testing

@testable import AssayCommand

/// A provider with a reason that says nothing of what to do.
private struct ShortProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    struct Request: RequestMessage {
        init(_ fields: RequestFields) throws(InvalidRequest) {}
    }

    static let descriptor = PluginDescriptor.provider(
        name: "short", summary: "Refuses everything.",
        reasons: [Reason("too_short", "The text is too short.")])
    static let methods: [ProviderMethod<ShortProvider>] = [
        .exchange("exchangeShort") { (provider, request: Request, context) in .refused(descriptor.reasons[0]) }
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
}

@Suite("Reference pages say what the program does")
struct ReferencePageTests {
    private let plugins: Registry

    private static let reasonsOfCommands = [PluginCommand].standard.flatMap(\.reasons)

    init() throws {
        plugins = try Registry(.standard, administration: .api, unoffered: .appCheck)
    }

    @Test(
        "The documentation has the pages that the command prints; Tests/Reference/generate writes them",
        arguments: [
            (["reasons", "--markdown"], "Reasons.md"), (["metrics", "--markdown"], "Metrics.md"),
            (["policy", "keys", "--markdown"], "PolicyKeys.md"),
        ])
    func pages(command: [String], file: String) async throws {
        let page = repository.appendingPathComponent("Sources/AssayEngine/AssayEngine.docc/\(file)")
        let process = try AssayProcess(command)
        let result = await process.result()
        #expect(result.status == 0)
        let isSame = try Data(contentsOf: page) == Data(result.output.utf8)
        #expect(
            isSame, "\(file) is not what `assay \(command.joined(separator: " "))` prints: run Tests/Reference/generate"
        )
    }

    @Test("Every reason says what it means and what to do, in whole sentences")
    func advice() {
        for reason in plugins.reasons + Self.reasonsOfCommands {
            for text in [reason.summary, reason.advice] {
                #expect(text.count > 15 && text.hasSuffix("."), "\(reason.code): \(text)")
                #expect(text.first?.isUppercase ?? false || text.hasPrefix("`"), "\(reason.code): \(text)")
            }
        }
    }

    @Test("Every reason of the kernel and of plugins has an answer to clients, and no answer names it")
    func answers() {
        let page = ReasonPage(plugins, commands: .standard)
        #expect(page.entries.count == plugins.reasons.count + Self.reasonsOfCommands.count)
        for entry in page.entries where !entry.owner.isExactly("the command") {
            #expect(!entry.answers.isEmpty, "\(entry.reason)")
            #expect(entry.answers.allSatisfy { !$0.contains(entry.reason.code) }, "\(entry.reason)")
        }
    }

    @Test("Of a reason without advice, nothing is said to be done")
    func withoutAdvice() throws {
        let page = ReasonPage(try Registry([.provider(ShortProvider.self)], administration: .api), commands: [])
        let short = try #require(page.explanation(of: "too_short"))
        #expect(short.contains("Meaning:  The text is too short."))
        #expect(!short.contains("What to do"))
        #expect(page.explanation(of: "challenge_expired")?.contains("What to do:  ") == true)
    }

    @Test("Plugins answer with reasons of their own")
    func pluginAnswers() {
        for descriptor in plugins.descriptors + plugins.consumerDescriptors {
            for answer in descriptor.answers {
                #expect(answer.reason.map(descriptor.reasons.contains) ?? false, "\(descriptor.name)")
            }
        }
    }

    @Test("One reason is explained; an unknown code could not be")
    func one() async throws {
        let known = try await AssayProcess.run("reasons", "challenge_expired")
        #expect(known.status == 0)
        #expect(known.output.contains("The client gets:  403 `PERMISSION_DENIED`"))
        let unknown = try await AssayProcess.run("reasons", "challenge_expire")
        #expect(unknown.status == 2)
        #expect(unknown.errors.contains("unknown reason 'challenge_expire'; did you mean `challenge_expired`?"))
    }

    @Test("A server shows no metric that is not listed, and each as it is listed")
    func metrics() async throws {
        let listed = Dictionary(
            try MetricPage(plugins).families.map { ($0.name, $0.metric) }, uniquingKeysWith: { first, _ in first })
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: try SimulatedAppleCA(at: HostClock.system.now))
            let server = try await AssayServer(
                in: folder, arguments: ["--audit", folder.appendingPathComponent("audit.jsonl").path],
                environment: ["ASSAY_DEBUG_TOKEN": AssayServer.debugToken])
            do {
                try await check(server, listed)
            } catch {
                _ = await server.end(SIGKILL)
                throw error
            }
            _ = await server.end(SIGTERM)
        }
    }

    private func check(_ server: AssayServer, _ listed: [String: Metric]) async throws {
        _ = try await server.post("exchangeDebugToken", ["debug_token": .string(AssayServer.debugToken)])
        _ = try await server.post("exchangeNothing")
        let page = try await server.text("/metrics").split(separator: "\n").map(String.init)
        let shown = page.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ").map(String.init) }
        #expect(shown.count > 25)
        for words in shown {
            let metric = try #require(listed[words[2]], "\(words[2]) is not in `assay metrics`")
            #expect("\(metric.kind)".hasPrefix(words[3]), "\(words[2])")
            #expect(page.contains { $0.hasPrefix("# HELP \(words[2]) ") && $0.contains(metric.summary) })
        }
    }

    @Test("Every key of the example policy is listed")
    func policyKeys() throws {
        let page = PolicyKeyPage(plugins)
        let paths = page.sections.flatMap { section in
            section.keys.map { section.path.isEmpty ? $0.path : "\(section.path).\($0.path)" }
        }
        #expect(Set(paths).count == paths.count)
        for path in [
            "projects", "projects[].apps[].providers.app_attest.environments", "projects[].apps[].apple.team_id",
            "projects[].apps[].rate_limit.burst", "callers.NAME.permissions", "tokens.algorithm",
            "projects[].consumers.custom_backend.tokens.enforcement",
            "projects[].consumers.oauth_client.verifier.attesters[].jwks",
        ] {
            #expect(paths.contains(path), "\(path)")
        }
        for section in page.sections { for key in section.keys { #expect(!key.meaning.isEmpty, "\(key.path)") } }
    }
}
