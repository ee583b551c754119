import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayYAML
import Testing

/// A provider with a setting, a counter, an entry that can be made once, and a question to another server.
private struct TurnstileProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {
        let tallest: Int?
        let asks: Bool?
        let once: Bool?
        let counter: String?
        let keeps: String?
    }

    struct Request: RequestMessage {
        let height: Int64
        let count: Int64
        let ticket: String?

        init(_ fields: RequestFields) throws(InvalidRequest) {
            height = try fields.integer("height") ?? 0
            count = try fields.integer("count") ?? 0
            ticket = try fields.optionalString("ticket")
        }
    }

    static let tooTall = Reason("too_tall", "The visitor is too tall.", advice: "Send a shorter one.")
    static let notCounted = Reason("not_counted", "The counter did not advance.", advice: "Count on.")
    static let used = Reason("ticket_used", "The ticket was used.", advice: "Buy another one.")

    static let descriptor = PluginDescriptor.provider(
        name: "turnstile", summary: "Lets visitors through.", reasons: [tooTall, notCounted, used])
    static let methods: [ProviderMethod<TurnstileProvider>] = [
        .exchange("exchangeTicket") { (provider, request: Request, context) in
            try await provider.appraise(request, context)
        }
    ]

    let tallest: Int
    let asks: Bool
    let configuration: Configuration
    let http: any OutboundHTTP

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
        tallest = configuration.tallest ?? 200
        asks = configuration.asks ?? false
        self.configuration = configuration
        http = host.http
        if tallest < 0 { throw ConfigurationError(at: ["tallest"], "nobody is that small") }
    }

    private func appraise(_ request: Request, _ context: ProviderContext) async throws -> Verdict {
        if let ticket = request.ticket {
            guard try await context.state.get(ticket) == nil else { return .refused(Self.used) }
            guard try await context.state.insert(ticket, expires: nil) else { return .refused(Self.used) }
        }
        if configuration.once == true, try await !context.state.insert("visit", expires: nil) {
            return .refused(Self.used)
        }
        if let keeps = configuration.keeps { try await context.state.put("last", value: Array(keeps.utf8)) }
        let counter = configuration.counter ?? "visitors"
        guard try await context.state.advance(counter, to: UInt64(request.count)) else {
            return .refused(Self.notCounted)
        }
        if asks, let url = EndpointURL("https://example.com/") { _ = try await http.send(OutboundRequest(.get, url)) }
        return request.height > tallest ? .refused(Self.tooTall) : .verified
    }
}

@Suite("Shadow settings")
struct ShadowSettingsTests {
    private static func engine(_ section: String, meter: Meter = .none) throws -> TestEngine {
        try TestEngine(
            [.provider(TurnstileProvider.self)], policy: TestEngine.policy(providers: "turnstile: \(section)"),
            meter: meter)
    }

    private func exchange(_ engine: TestEngine, _ body: JSON) async throws -> DecisionRecord {
        try #require(engine.record(of: await engine.call("exchangeTicket", TestEngine.app, body)))
    }

    private func isIssued(_ record: DecisionRecord) -> Bool {
        if case .issued = record.outcome { true } else { false }
    }

    @Test("What they would refuse is accepted, recorded and counted")
    func recorded() async throws {
        let meter = CountingMeter()
        let engine = try Self.engine("{tallest: 190, shadow: {tallest: 150}}", meter: meter.meter)
        let tall = try await exchange(engine, ["height": 170, "count": 1])
        #expect(isIssued(tall))
        #expect(tall.rules.wouldRefuse == ["turnstile:too_tall"])
        let short = try await exchange(engine, ["height": 140, "count": 2])
        #expect(isIssued(short) && short.rules.wouldRefuse.isEmpty)
        // What is refused anyway is not judged twice.
        let giant = try await exchange(engine, ["height": 195, "count": 3])
        #expect(!isIssued(giant) && giant.rules.wouldRefuse.isEmpty)
        let app = TestApp.first.id()
        #expect(meter["rule_matches_total", app, "turnstile:too_tall", "shadow_refuse"] == 1)
    }

    @Test("They see what the provider in force saw, and change nothing")
    func noEffect() async throws {
        let engine = try Self.engine("{shadow: {tallest: 150}}")
        // The counter and the ticket were taken by the provider in force: tried settings are not refused for that.
        for count in 1...3 {
            let record = try await exchange(
                engine, ["height": 100, "count": .integer(Int64(count)), "ticket": .string("ticket-\(count)")])
            #expect(isIssued(record) && record.rules.wouldRefuse.isEmpty)
        }
        let again = try await exchange(engine, ["height": 100, "count": 4, "ticket": "ticket-1"])
        guard case .refused(TurnstileProvider.used) = again.outcome else {
            Issue.record("a ticket was used twice")
            return
        }
        let behind = try await exchange(engine, ["height": 100, "count": 3])
        guard case .refused(TurnstileProvider.notCounted) = behind.outcome else {
            Issue.record("the counter went back")
            return
        }
    }

    @Test("Settings that would ask another server are not judged, and nobody is refused for it")
    func noCalls() async throws {
        let meter = CountingMeter()
        let engine = try Self.engine("{shadow: {asks: true}}", meter: meter.meter)
        let record = try await exchange(engine, ["count": 1])
        #expect(isIssued(record) && record.rules.wouldRefuse.isEmpty)
        #expect(meter["rule_matches_total", TestApp.first.id(), "turnstile", "shadow_undecided"] == 1)
    }

    @Test(
        "Settings that would write what those in force do not are not judged, whatever they would answer",
        arguments: [
            ("{shadow: {once: true}}", false), ("{shadow: {once: true, tallest: 150}}", false),
            ("{shadow: {counter: others, tallest: 150}}", false), ("{shadow: {keeps: a, tallest: 150}}", false),
            ("{keeps: a, shadow: {keeps: b, tallest: 150}}", false),
            ("{keeps: a, once: true, shadow: {keeps: a, once: true, tallest: 150}}", true),
            ("{keeps: a, once: true, shadow: {tallest: 150}}", true),
        ])
    func ownWrites(_ section: String, _ isJudged: Bool) async throws {
        let meter = CountingMeter()
        let engine = try Self.engine(section, meter: meter.meter)
        let record = try await exchange(engine, ["height": 170, "count": 1])
        #expect(isIssued(record))
        #expect(record.rules.wouldRefuse == (isJudged ? ["turnstile:too_tall"] : []))
        let app = TestApp.first.id()
        #expect(meter["rule_matches_total", app, "turnstile", "shadow_undecided"] == (isJudged ? 0 : 1))
    }

    @Test("Settings that refuse because of what those in force wrote are judged: nothing is missing")
    func presentEntry() async throws {
        let engine = try Self.engine("{once: true}")
        #expect(isIssued(try await exchange(engine, ["count": 1])))
        try engine.engine.replacePolicies(
            .load([PolicyFile(name: "a.yaml", text: TestEngine.policy(providers: "turnstile: {shadow: {once: true}}"))])
        )
        #expect(try await exchange(engine, ["count": 2]).rules.wouldRefuse == ["turnstile:ticket_used"])
    }

    @Test(
        "Wrong ones are refused at their places",
        arguments: [
            ("{shadow: {tallst: 1}}", "unknown key `tallst`"), ("{shadow: {tallest: -1}}", "nobody is that small"),
            ("{shadow: {tallest: x}}", "expected a whole number, found `x`"),
            ("{shadow: 5}", "expected a mapping, found `5`"),
            ("{shadow: {token_ttl: 2h}}", "unknown key `token_ttl`"),
            ("{shadow: {shadow: {tallest: 1}}}", "unknown key `shadow`"),
        ])
    func wrong(_ section: String, _ message: String) {
        let error = #expect(throws: Diagnostics.self) { try Self.engine(section) }
        #expect(error?.all.first?.message == message, "\(error?.description ?? "")")
        #expect(error?.all.allSatisfy { $0.location != nil } == true)
    }
}
