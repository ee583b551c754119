import AssayAppAttest
import AssayCore
import AssayDebug
import AssayEngine
import AssayKit
import AssayServer
import Testing

@Suite("Metrics of decisions")
struct DecisionMetricsTests {
    private let registry = MetricRegistry()
    private let plugins: Registry
    private let metrics: DecisionMetrics

    init() throws {
        plugins = try Registry([.provider(AppAttestProvider.self), .provider(DebugProvider.self)])
        let plugins = plugins
        metrics = try DecisionMetrics(
            methods: plugins.methods.map { DecisionMetrics.Method($0.name, provider: plugins.provider(of: $0.name)) },
            providers: plugins.providerNames, reasons: plugins.reasons, in: registry)
    }

    private func record(
        _ outcome: DecisionRecord.Outcome, method: String = "exchangeDebugToken", provider: String? = "debug",
        duration: Duration = .milliseconds(3), app: String? = nil
    ) {
        metrics.record(
            DecisionRecord(
                decision: DecisionID(text: "01"), time: Instant(seconds: 0), duration: duration, method: method,
                resource: "oauthClients/a", provider: provider, outcome: outcome, detail: nil, facts: [], peer: nil,
                app: app))
    }

    private func decisions(
        _ outcome: String, _ reason: String, method: String = "exchangeDebugToken", provider: String = "debug",
        app: String = ""
    ) throws -> Double? {
        try ExpositionPage(registry.page())[
            "assay_decisions_total",
            ["method": method, "provider": provider, "outcome": outcome, "reason": reason, "app": app]]
    }

    @Test("Errors of every method are there from the start, so that an alert sees the first one")
    func errors() throws {
        func errors(_ method: String) throws -> Double? {
            try ExpositionPage(registry.page())["assay_decision_errors_total", ["method": method]]
        }
        for method in plugins.methods { #expect(try errors(method.name) == 0, "\(method.name)") }
        record(.failed(.unavailable), method: "verifyAppCheckToken", provider: nil, app: "a")
        record(.refused(KernelReasons.challengeExpired), method: "verifyAppCheckToken", provider: nil)
        #expect(try errors("verifyAppCheckToken") == 1)
    }

    @Test("Every reason of the registry is counted under its own code")
    func reasons() throws {
        for reason in plugins.reasons { record(.refused(reason)) }
        for reason in plugins.reasons { #expect(try decisions("refused", reason.code) == 1, "\(reason)") }
        #expect(try decisions("refused", "other") == nil)
        #expect(plugins.reasons.count > 50)
    }

    private func use(
        _ app: String?, service: String? = "orders.example.com", _ category: TokenUse.Category,
        _ enforcement: EnforcementMode? = .unenforced, isAdmitted: Bool = true
    ) {
        let use = TokenUse(
            project: "1", service: service, app: app, category: category, enforcement: enforcement,
            isAdmitted: isAdmitted)
        let record = DecisionRecord(
            decision: DecisionID(text: "01"), time: Instant(seconds: 0), duration: .zero, method: "protect",
            resource: "projects/1", provider: nil, outcome: .answered, detail: nil, facts: [], peer: nil,
            tokenUse: use)
        metrics.record(record)
    }

    @Test("Uses of tokens are counted by app and service, in each category of App Check")
    func uses() throws {
        for category in TokenUse.Category.allCases {
            use("1:1:ios:a", category)
            use("1:1:ios:a", category)
            use(nil, service: nil, category)
        }
        let page = try ExpositionPage(registry.page())
        for category in TokenUse.Category.allCases {
            var labels = [
                "project": "1", "service": "orders.example.com", "app": "1:1:ios:a", "category": category.rawValue,
                "enforcement": "UNENFORCED", "admitted": "true",
            ]
            #expect(page["assay_token_uses_total", labels] == 2)
            labels["app"] = ""
            labels["service"] = ""
            #expect(page["assay_token_uses_total", labels] == 1)
        }
    }

    @Test("What was let through and what was not are told apart, and the levels under which that was")
    func admission() throws {
        let rows: [(EnforcementMode?, Bool, Int)] = [
            (.enforced, false, 3), (.enforced, true, 2), (.unenforced, true, 4), (nil, false, 1),
        ]
        for (mode, isAdmitted, count) in rows {
            for _ in 0..<count { use("1:1:ios:a", .invalid, mode, isAdmitted: isAdmitted) }
        }
        let page = try ExpositionPage(registry.page())
        for (mode, isAdmitted, count) in rows {
            let labels = [
                "project": "1", "service": "orders.example.com", "app": "1:1:ios:a", "category": "invalid",
                "enforcement": mode?.rawValue ?? "", "admitted": isAdmitted ? "true" : "false",
            ]
            #expect(page["assay_token_uses_total", labels] == Double(count), "\(labels)")
        }
    }

    @Test("However many apps there are, each use is counted once, and other metrics keep their room")
    func manyApps() throws {
        for number in 0..<20_000 { use("1:1:ios:\(number)", .invalid) }
        let text = String(decoding: registry.page(), as: UTF8.self)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("assay_token_uses_total{") }
        #expect(lines.count == 8193)
        #expect(lines.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0, +) == 20_000)
        let labels = [
            "project": "other", "service": "other", "app": "other", "category": "invalid", "enforcement": "UNENFORCED",
            "admitted": "true",
        ]
        #expect(try ExpositionPage(registry.page())["assay_token_uses_total", labels] == 20_000 - 8192)
        record(.answered)
        #expect(try decisions("answered", "") == 1)
    }

    @Test("Decisions are counted by app, in as many series as there is room for, and each once")
    func apps() throws {
        record(.answered, app: "1:1:ios:a")
        record(.answered, app: "1:1:ios:a")
        record(.answered)
        #expect(try decisions("answered", "", app: "1:1:ios:a") == 2)
        #expect(try decisions("answered", "") == 1)
        for number in 0..<8200 { record(.answered, app: "1:2:ios:\(number)") }
        // To read so long a page takes its time.
        let last = String(decoding: registry.page(), as: UTF8.self).split(separator: "\n").filter {
            $0.hasPrefix("assay_decisions_total{") && $0.utf8.suffix(14).elementsEqual("app=\"other\"} 9".utf8)
        }
        #expect(last.count == 1)
    }

    @Test("Minted tokens count as what they are, and so do decisions about them")
    func minted() throws {
        record(
            .issued(tokenID: "a", limitedUse: false, expires: Instant(seconds: 1)), method: "mintAppCheckToken",
            provider: "mint")
        record(.answered, method: "verifyAppCheckToken", provider: "mint")
        let page = try ExpositionPage(registry.page())
        #expect(page["assay_tokens_issued_total", ["provider": "mint", "limited_use": "false"]] == 1)
        #expect(try decisions("issued", "", method: "mintAppCheckToken", provider: "mint") == 1)
        #expect(try decisions("answered", "", method: "verifyAppCheckToken", provider: "mint") == 1)
    }

    @Test("Runs of maintenance are counted by how they ended, and what they came across by its code")
    func maintenance() throws {
        let maintenance = try MaintenanceMetrics(plugins: ["app_attest"], in: registry)
        let outcomes: [MaintenanceRecord.Outcome] = [.succeeded, .failed("x"), .timedOut, .succeeded]
        for outcome in outcomes {
            maintenance.record(
                MaintenanceRecord(
                    kind: .provider, plugin: "app_attest", resource: "projects/1/apps/a", duration: .seconds(2),
                    outcome: outcome, counts: [MaintenanceEvent("exchanged"): 3]))
        }
        let page = try ExpositionPage(registry.page())
        func runs(_ outcome: String) -> Double? {
            page["assay_upkeep_runs_total", ["plugin": "app_attest", "outcome": outcome]]
        }
        #expect([runs("succeeded"), runs("failed"), runs("timed_out")] == [2, 1, 1])
        #expect(page["assay_upkeep_events_total", ["plugin": "app_attest", "event": "exchanged"]] == 12)
    }

    @Test("Refusals, bad requests and faults are told apart, and so are challenges and tokens")
    func outcomes() throws {
        record(.challenged, method: "generateAppAttestChallenge", provider: "app_attest")
        record(.issued(tokenID: "a", limitedUse: false, expires: Instant(seconds: 1)))
        for _ in 0..<2 { record(.issued(tokenID: "b", limitedUse: true, expires: Instant(seconds: 1))) }
        for status in StatusCode.allCases {
            record(.rejected(status), provider: nil)
            record(.failed(status))
        }
        let page = try ExpositionPage(registry.page())
        #expect(try decisions("challenged", "", method: "generateAppAttestChallenge", provider: "app_attest") == 1)
        #expect(try decisions("issued", "") == 3)
        for status in StatusCode.allCases {
            #expect(try decisions("rejected", status.rawValue, provider: "") == 1)
            #expect(try decisions("error", status.rawValue) == 1)
        }
        #expect(
            page["assay_challenges_issued_total", ["method": "generateAppAttestChallenge", "provider": "app_attest"]]
                == 1)
        #expect(page["assay_tokens_issued_total", ["provider": "debug", "limited_use": "true"]] == 2)
        #expect(page["assay_tokens_issued_total", ["provider": "debug", "limited_use": "false"]] == 1)
    }

    @Test("Nothing that a caller makes up becomes a label")
    func madeUp() throws {
        for number in 0..<100 {
            record(.refused(Reason("made_up_\(number)", "")), method: "method\(number)", provider: "provider\(number)")
        }
        #expect(try decisions("refused", "other", method: "other", provider: "other") == 100)
        #expect(!String(decoding: registry.page(), as: UTF8.self).contains("made_up"))
    }

    @Test("Faults of a method show as 0 before the first one, so that alarms have something to look at")
    func zero() throws {
        #expect(try decisions("error", "UNAVAILABLE") == 0)
        #expect(try decisions("error", "INTERNAL", method: "exchangeAppAttestAssertion", provider: "app_attest") == 0)
    }

    @Test("The time that a decision took is counted by method and outcome, and a clock that went back as none")
    func durations() throws {
        record(.refused(KernelReasons.challengeExpired), duration: .microseconds(200))
        record(.refused(KernelReasons.challengeExpired), duration: .seconds(-5))
        record(.refused(KernelReasons.challengeExpired), duration: .seconds(60))
        let page = try ExpositionPage(registry.page())
        let labels = ["method": "exchangeDebugToken", "outcome": "refused"]
        func bucket(_ bound: String) -> Double? {
            page["assay_decision_duration_seconds_bucket", labels.merging(["le": bound]) { $1 }]
        }
        #expect(bucket("0.0001") == 1)
        #expect(bucket("0.00025") == 2)
        #expect(bucket("10.0") == 2)
        #expect(bucket("+Inf") == 3)
        #expect(page["assay_decision_duration_seconds_sum", labels] == 60.0002)
    }
}
