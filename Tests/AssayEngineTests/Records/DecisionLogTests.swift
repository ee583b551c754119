import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayVerifier
import Logging
import Synchronization
import Testing
@testable import AssayServices

@Suite("The log of decisions")
struct DecisionLogTests {
    /// The fields of the only line that an engine writes about a call.
    private func fields(_ resource: String, _ body: JSON = [:]) async throws -> Logger.Metadata {
        let log = Log()
        let logger = Logger(label: "test") { _ in Handler(log: log) }
        let engine = try Engine(
            registry: Registry([.provider(TalkingProvider.self)]),
            policies: .load([
                PolicyFile(
                    name: "a.yaml",
                    text: "projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a', providers: {talking: {}}}]}]")
            ]),
            keys: .pooled(), host: PluginHost(store: MemoryStore(clock: .system), logger: logger),
            options: Engine.Options(timeLimit: .seconds(600)))
        _ = await engine.handle(Call("exchangeTalking", resource: resource, body: body, peer: "192.0.2.1"))
        // The engine says, too, that it made its first keys.
        let lines = log.lines.withLock { $0 }.filter { $0["decision"] != nil }
        #expect(lines.count == 1)
        return try #require(lines.first)
    }

    @Test(
        "Nobody can write a field of another name, or another line, into a line",
        arguments: [
            "oauthClients/a decision=01 reason=none", "projects/a\nnotice x", "oauthClients/\"a\" b=\"c\"",
            "oauthClients/\u{1B}[2J\u{202E}=", String(repeating: "a b=", count: 1000), "",
        ])
    func resources(_ resource: String) async throws {
        try check(await fields(resource))
    }

    @Test(
        "What evidence says of itself is one field, whatever it says",
        arguments: ["1.0 (5)", "1 reason=none", "\"1\" b=\"2\"", "1\r\n2", "\u{2028}\u{0}"])
    func evidence(_ words: String) async throws {
        let app = "projects/a/apps/1:1:ios:a"
        let good = try await fields(app, ["words": .string(words)])
        #expect(good["fact.words"] != nil)
        try check(good)
        let bad = try await fields(app, ["words": .string(words), "refuse": true])
        #expect(bad["detail"] != nil)
        try check(bad)
    }

    @Test("A line says whether it is evidence that was refused, or something else")
    func messages() {
        let log = Log()
        let decisions = DecisionLog(Logger(label: "test") { _ in Handler(log: log) })
        let use = TokenUse(
            project: "1", service: nil, app: nil, category: .invalid, enforcement: .enforced, isAdmitted: false)
        for (reason, facts, use, message) in [
            (KernelReasons.challengeExpired, [], nil, "evidence refused"),
            (Reason("odd", ""), [], nil, "evidence refused"),
            (KernelReasons.rateLimited, [], nil, "call refused"), (KernelReasons.tokenExpired, [], nil, "call refused"),
            (Reason("odd", ""), [Fact(.consumer, .text("parcel"))], nil, "call refused"),
            (Reason("odd", ""), [], use, "call refused"),
        ] as [(Reason, [Fact], TokenUse?, String)] {
            decisions.record(
                DecisionRecord(
                    decision: DecisionID(text: "01"), time: Instant(seconds: 0), duration: .zero, method: "m",
                    resource: "r", provider: nil, outcome: .refused(reason), detail: nil, facts: facts, peer: nil,
                    tokenUse: use))
            #expect(log.messages.withLock { $0.last } == message, "\(reason)")
        }
    }

    @Test("A line about a token says how it counts, what was waived, and whether the request was let through")
    func tokens() throws {
        let log = Log()
        let decisions = DecisionLog(Logger(label: "test") { _ in Handler(log: log) })
        for isAdmitted in [true, false] {
            let use = TokenUse(
                project: "1", service: "orders", app: nil, category: .reused, enforcement: .unenforced,
                isAdmitted: isAdmitted)
            decisions.record(
                DecisionRecord(
                    decision: DecisionID(text: "01"), time: Instant(seconds: 0), duration: .zero, method: "m",
                    resource: "r", provider: nil, outcome: .answered, detail: nil, facts: [], peer: nil,
                    tokenUse: use, unenforced: KernelReasons.tokenReused))
            let fields = try #require(log.lines.withLock { $0.last })
            let told = ["service", "category", "admitted", "unenforced_reason"].map { "\(fields[$0] ?? "")" }
            #expect(told == ["orders", "reused", "\(isAdmitted)", "token_reused"])
        }
    }

    /// A value is printable ASCII; it is a word, or a string of JSON.
    private func check(_ fields: Logger.Metadata) throws {
        for (name, value) in fields {
            let text = "\(value)"
            #expect(text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "\(name)")
            #expect(text.utf8.count < 400, "\(name)")
            let isWord = !text.isEmpty && !text.contains { [" ", "\"", "=", "\\"].contains($0) }
            let isString = text.hasPrefix("\"") && (try? JSON.parse(Array(text.utf8)))?.string != nil
            #expect(isWord || isString, "\(name): \(text)")
        }
    }
}

private final class Log: Sendable {
    let lines = Mutex<[Logger.Metadata]>([])
    let messages = Mutex<[String]>([])
}

private struct Handler: LogHandler {
    let log: Log
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        log.lines.withLock { $0.append(event.metadata ?? [:]) }
        log.messages.withLock { $0.append("\(event.message)") }
    }
}

/// Repeats what the evidence says.
private struct TalkingProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}
    struct Request: RequestMessage {
        let words: String
        let isRefused: Bool

        init(_ fields: RequestFields) throws(InvalidRequest) {
            words = try fields.string("words")
            isRefused = try fields.bool("refuse")
        }
    }

    static let refused = Reason("talking_refused", "It was to be refused.")
    static let descriptor = PluginDescriptor.provider(
        name: "talking", summary: "Repeats.", reasons: [refused], facts: ["words"])
    static let methods: [ProviderMethod<TalkingProvider>] = [
        .exchange("exchangeTalking") { (_, request: Request, _) in
            request.isRefused
                ? .refused(refused, detail: request.words)
                : .verified(Appraisal(facts: [Fact("words", .text(request.words))]))
        }
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) {}
}
