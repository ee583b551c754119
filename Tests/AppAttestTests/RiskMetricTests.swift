import AssayAppAttest
import AssayCore
import AssayKit
import AssayPolicy
import AssaySQLite
import AssayTesting
import AssayYAML
import Foundation
import Testing

@testable import AssayEngine

@Suite("Receipts live on")
struct RiskMetricTests {
    @Test("The metric is a fact of the verdict, with its age, once maintenance has exchanged the key's receipt")
    func fact() async throws {
        let service = try RiskService()
        service.apple.riskMetric = 3
        let server = try service.server()
        let (keyID, artifact, attestation) = try await service.attested(by: server)
        #expect(attestation.reason == nil)
        #expect(service.fact("risk_metric", attestation) == nil)
        let before = try await service.assert(server, keyID, artifact)
        #expect(service.fact("risk_metric", before) == nil)
        #expect(before.reason == nil)
        try await service.maintenance(server)
        service.clock.advance(by: .seconds(60))
        let after = try await service.assert(server, keyID, artifact)
        #expect(service.fact("risk_metric", after) == .integer(3))
        #expect(service.fact("risk_metric_age", after) == .duration(.seconds(60)))
        #expect(service.apple.requests.count == 1)
    }

    @Test("A key that is attested again has its metric in that verdict too, and the newest receipt")
    func attestedAgain() async throws {
        let service = try RiskService()
        let server = try service.server("refuse_above: 5")
        let (keyID, _, _) = try await service.attested(by: server)
        try await service.maintenance(server)
        service.clock.advance(by: .seconds(100_000))
        let again = try await service.attested(by: server, keyID: keyID).reply
        #expect(service.fact("risk_metric", again) == .integer(1))
        #expect(service.fact("risk_metric_age", again) == .duration(.seconds(100_000)))
        service.apple.riskMetric = 6
        try await service.maintenance(server)
        #expect(service.apple.requests.count == 2)
        #expect(try await service.attested(by: server, keyID: keyID).reply.reason == "risk_metric_too_high")
        #expect(try await service.entries("receipt/").count == 1)
    }

    @Test("A used key's receipt is exchanged once a day; one that is not used is left alone, until it is used again")
    func onlyInUse() async throws {
        let service = try RiskService()
        let server = try service.server()
        let used = try await service.attested(by: server)
        let unused = try await service.attested(by: server)
        try await service.maintenance(server)
        #expect(service.apple.requests.count == 2)
        for day in 1...5 {
            for _ in 0..<3 { #expect(try await service.assert(server, used.keyID, used.artifact).reason == nil) }
            #expect(try await service.entries("refresh/").count == 1)
            service.clock.advance(by: .seconds(86_399))
            try await service.maintenance(server)
            #expect(service.apple.requests.count == 1 + day, "Apple allows it after a day")
            service.clock.advance(by: .seconds(1))
            try await service.maintenance(server)
            try await service.maintenance(server)
            #expect(service.apple.requests.count == 2 + day)
        }
        #expect(try await service.entries("refresh/").isEmpty)
        #expect(try await service.assert(server, unused.keyID, unused.artifact).reason == nil)
        try await service.maintenance(server)
        #expect(service.apple.requests.count == 8)
        #expect(service.apple.requests.allSatisfy { $0.url.host == "data.appattest.apple.com" })
    }

    @Test("A policy may have receipts exchanged less often")
    func interval() async throws {
        let service = try RiskService()
        let server = try service.server("refresh_interval: 7d")
        let (keyID, artifact, _) = try await service.attested(by: server)
        for day in 0..<15 {
            try await service.maintenance(server)
            #expect(service.apple.requests.count == 1 + day / 7)
            #expect(try await service.assert(server, keyID, artifact).reason == nil)
            service.clock.advance(by: .seconds(86_400))
        }
    }

    @Test("A development key's receipt goes to the development server")
    func environment() async throws {
        let service = try RiskService(environment: .development)
        let server = try service.server("authorization: bearer")
        let (keyID, artifact, _) = try await service.attested(by: server)
        try await service.maintenance(server)
        #expect(service.apple.requests.map(\.url.host) == ["data-development.appattest.apple.com"])
        #expect(service.apple.requests.first?.header("authorization")?.hasPrefix("Bearer ") == true)
        #expect(service.fact("risk_metric", try await service.assert(server, keyID, artifact)) == .integer(1))
    }

    @Test("Above the policy's limit evidence is refused, and accepted again when the metric has fallen")
    func limit() async throws {
        let service = try RiskService()
        let server = try service.server("refuse_above: 4")
        let (keyID, artifact, _) = try await service.attested(by: server)
        service.apple.setRiskMetric(4, ofKey: keyID)
        try await service.maintenance(server)
        #expect(try await service.assert(server, keyID, artifact).reason == nil)
        service.apple.setRiskMetric(5, ofKey: keyID)
        service.clock.advance(by: .seconds(86_400))
        try await service.maintenance(server)
        let refused = try await service.assert(server, keyID, artifact)
        #expect(refused.reason == "risk_metric_too_high")
        #expect(service.sink.record(of: refused.decision)?.detail == "5, and at most 4 is allowed")
        // The refused key was in use, and so its receipt lives on.
        service.apple.setRiskMetric(1, ofKey: keyID)
        service.clock.advance(by: .seconds(86_400))
        try await service.maintenance(server)
        #expect(try await service.assert(server, keyID, artifact).reason == nil)
    }

    @Test("What is unknown is allowed, or refused once maintenance had its time, as the policy says")
    func unknown() async throws {
        let service = try RiskService()
        let server = try service.server("refuse_above: 4, unknown: refused")
        let tolerant = try service.server("refuse_above: 4")
        let (keyID, artifact, reply) = try await service.attested(by: server)
        #expect(reply.reason == nil)
        service.clock.advance(by: .seconds(1799))
        #expect(try await service.assert(server, keyID, artifact).reason == nil)
        service.clock.advance(by: .seconds(1))
        #expect(try await service.assert(server, keyID, artifact).reason == "risk_metric_unknown")
        #expect(try await service.assert(tolerant, keyID, artifact).reason == nil)
        try await service.maintenance(server)
        #expect(try await service.assert(server, keyID, artifact).reason == nil)
    }

    @Test("A key from before the policy asked for metrics has none, and works")
    func earlierKeys() async throws {
        let service = try RiskService()
        let (keyID, artifact, _) = try await service.attested(by: service.server(nil))
        #expect(try await service.entries("receipt/").isEmpty)
        let server = try service.server()
        try await service.maintenance(server)
        let reply = try await service.assert(server, keyID, artifact)
        #expect(reply.reason == nil)
        #expect(service.fact("risk_metric", reply) == nil)
        #expect(service.apple.requests.isEmpty)
    }

    @Test("After a restart, also one within a run, receipts are exchanged from where it ended")
    func restart() async throws {
        try await withTemporaryDatabase { path in
            let clock = ManualClock()
            let first = try RiskService(
                clock: clock, store: try await SQLiteStore.open(path, host: StorageHost(clock: clock.hostClock)))
            let (keyID, artifact, _) = try await first.attested(by: first.server())
            // A server that died while it was at it leaves its claim behind.
            let space = StateSpace("app_attest/\(AppAttestService.appByNumber)", in: first.store)
            let key = try #require(try await first.entries("receipt/").first).name.dropFirst("receipt/".count)
            #expect(try await space.insert("refreshing/\(key)", expires: clock.now + .seconds(300)))
            let store = try await SQLiteStore.open(path, host: StorageHost(clock: clock.hostClock))
            let second = try first.server(store: store)
            try await first.maintenance(second)
            #expect(first.apple.requests.isEmpty)
            clock.advance(by: .seconds(301))
            try await first.maintenance(second)
            #expect(first.apple.requests.count == 1)
            #expect(first.fact("risk_metric", try await first.assert(second, keyID, artifact)) == .integer(1))
        }
    }

    @Test("Of several servers with one store, one exchanges a receipt")
    func severalServers() async throws {
        let service = try RiskService()
        let servers = try (0..<4).map { _ in try service.server() }
        var keys: [(String, [UInt8])] = []
        for index in 0..<24 {
            let (keyID, artifact, _) = try await service.attested(by: servers[index % 4])
            keys.append((keyID, artifact))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for server in servers { group.addTask { try await service.maintenance(server) } }
            try await group.waitForAll()
        }
        #expect(service.apple.requests.count == 24)
        #expect(Set(service.apple.requests.map(\.body)).count == 24)
        for (index, key) in keys.enumerated() {
            let reply = try await service.assert(servers[index % 4], key.0, key.1)
            #expect(service.fact("risk_metric", reply) == .integer(1))
        }
        #expect(try await service.entries("refreshing/").isEmpty)
    }

    @Test("One receipt that Apple does not like is put off, and the others are exchanged")
    func oneBad() async throws {
        let service = try RiskService()
        let server = try service.server()
        let bad = try await service.attested(by: server)
        service.apple.forget(bad.keyID)
        service.clock.advance(by: .seconds(1))
        let good = try await service.attested(by: server)
        try await service.maintenance(server)
        #expect(service.apple.requests.count == 2)
        #expect(service.fact("risk_metric", try await service.assert(server, good.keyID, good.artifact)) != nil)
        let reply = try await service.assert(server, bad.keyID, bad.artifact)
        #expect(reply.reason == nil)
        #expect(service.fact("risk_metric", reply) == nil)
        service.clock.advance(by: .seconds(43_000))
        try await service.maintenance(server)
        #expect(service.apple.requests.count == 2, "half a day at least")
        service.clock.advance(by: .seconds(43_500))
        try await service.maintenance(server)
        #expect(service.apple.requests.count >= 3, "a day at most")
    }

    @Test("What concerns all receipts ends the run, and is thrown, so that the kernel waits", arguments: [401, 429])
    func systemic(_ status: Int) async throws {
        let service = try RiskService()
        let server = try service.server()
        for _ in 0..<30 { _ = try await service.attested(by: server) }
        let refusal = OutboundResponse(status: status, headers: [OutboundHeader("Retry-After", "600")])
        service.apple.script(Array(repeating: .respond(refusal), count: 1000))
        let error = await #expect(throws: (any Error).self) { try await service.maintenance(server) }
        #expect((error as? MaintenancePause)?.duration == (status == 429 ? .seconds(600) : nil))
        // Those that were under way at the time, and for 401 a second try with a new token.
        #expect(service.apple.requests.count <= 2 * 8)
        #expect(try await service.entries("refresh/").count == 30)
        #expect(try await service.entries("refreshing/").isEmpty)
        #expect(try await service.entries("receipt/").count == 30)
    }

    @Test("An answer that it is too early keeps the old receipt and its metric")
    func early() async throws {
        let service = try RiskService()
        let server = try service.server()
        let (keyID, artifact, _) = try await service.attested(by: server)
        try await service.maintenance(server)
        _ = try await service.assert(server, keyID, artifact)
        let before = try #require(try await service.entries("receipt/").first)
        service.clock.advance(by: .seconds(86_400))
        service.apple.script([.respond(OutboundResponse(status: 304))])
        try await service.maintenance(server)
        let after = try #require(try await service.entries("receipt/").first)
        #expect(after.value.suffix(after.value.count - 148) == before.value.suffix(before.value.count - 148))
        #expect(service.fact("risk_metric", try await service.assert(server, keyID, artifact)) == .integer(1))
        try await service.maintenance(server)
        #expect(service.apple.requests.count == 2)
        service.clock.advance(by: .seconds(3600))
        try await service.maintenance(server)
        #expect(service.apple.requests.count == 3)
    }

    @Test(
        "An answer that Apple has nothing from the last 30 days leaves a key in use what it is, known or not, also when its receipt has ended",
        arguments: [true, false])
    func nothingRecent(_ wasKnown: Bool) async throws {
        let service = try RiskService()
        let server = try service.server("refuse_above: 4, unknown: refused")
        let (keyID, artifact, _) = try await service.attested(by: server)
        if wasKnown { try await service.maintenance(server) }
        let calls = service.apple.requests.count
        // Not used for longer than Apple remembers; from then on it is used every three days.
        service.clock.advance(by: .seconds(31 * 86_400))
        for _ in 0..<60 {
            let reply = try await service.assert(server, keyID, artifact)
            #expect(reply.reason == (wasKnown ? nil : "risk_metric_unknown"))
            #expect(service.fact("risk_metric", reply) == (wasKnown ? .integer(1) : nil))
            try await service.maintenance(server)
            service.clock.advance(by: .seconds(3 * 86_400))
        }
        // Once a week at most, and never with a receipt that has ended.
        #expect((5...9).contains(service.apple.requests.count - calls), "\(service.apple.requests.count)")
        // A key that is not used is forgotten.
        service.clock.advance(by: .seconds(91 * 86_400))
        #expect(try await service.assert(server, keyID, artifact).reason == "risk_metric_unknown")
    }

    @Test(
        "Apple is asked for the team of an app whose App ID begins with another prefix, about the receipt of the App ID"
    )
    func otherPrefix() async throws {
        let team = try SimulatedAppleTeam(teamID: "ABCDE12345", olderPrefixes: ["FGHIJ67890"])
        let service = try RiskService(team: team, appIDPrefix: "FGHIJ67890")
        let server = try service.server()
        let (keyID, artifact, reply) = try await service.attested(by: server)
        #expect(reply.reason == nil)
        try await service.maintenance(server)
        let after = try await service.assert(server, keyID, artifact)
        #expect(service.fact("risk_metric", after) == .integer(1))
        // Without the prefix the same device is of another app.
        try server.replacePolicies(RiskService(team: team, authority: service.authority).policies(""))
        #expect(try await service.attested(by: server).reply.reason == "app_id_mismatch")
        #expect(try await service.assert(server, keyID, artifact).reason == "app_id_mismatch")
    }

    @Test("A receipt that has expired for good is forgotten with what is known by it, and nobody is called")
    func expiry() async throws {
        let service = try RiskService()
        let server = try service.server()
        let (keyID, artifact, _) = try await service.attested(by: server)
        try await service.maintenance(server)
        service.clock.advance(by: .seconds(90 * 86_400))
        let reply = try await service.assert(server, keyID, artifact)
        #expect(reply.reason == nil)
        #expect(service.fact("risk_metric", reply) == nil)
        try await service.maintenance(server)
        #expect(service.apple.requests.count == 1)
        #expect(try await service.entries("re").isEmpty)
    }

    @Test("Wherever a write is missing between receipt and index, it heals")
    func healing() async throws {
        let service = try RiskService()
        let server = try service.server()
        let (keyID, artifact, _) = try await service.attested(by: server)
        let space = StateSpace("app_attest/\(AppAttestService.appByNumber)", in: service.store)
        let wish = try #require(try await service.entries("refresh/").first).name
        let receipt = try #require(try await service.entries("receipt/").first)
        // The index without the receipt.
        try await space.put(receipt.name, value: nil)
        try await service.maintenance(server)
        #expect(service.apple.requests.isEmpty)
        #expect(try await service.entries("refresh/").isEmpty)
        // The receipt without the index: the next use writes it.
        try await space.put(receipt.name, value: receipt.value, expires: receipt.expires)
        _ = try await service.assert(server, keyID, artifact)
        #expect(try await service.entries("refresh/").map(\.name) == [wish])
        // A stale entry beside the good one.
        try await space.put("refresh/0000000000000001/\(wish.split(separator: "/")[2])", value: [])
        try await service.maintenance(server)
        #expect(service.apple.requests.count == 1)
        #expect(try await service.entries("refresh/").isEmpty)
        // A receipt that is damaged is as good as none.
        try await space.put(receipt.name, value: [9, 9, 9], expires: receipt.expires)
        let reply = try await service.assert(server, keyID, artifact)
        #expect(reply.reason == nil)
        #expect(service.fact("risk_metric", reply) == nil)
    }

    @Test("A metric from under another root counts for nothing")
    func otherRoot() async throws {
        let service = try RiskService()
        let server = try service.server("refuse_above: 0")
        let (keyID, artifact, _) = try await service.attested(by: server)
        try await service.maintenance(server)
        #expect(try await service.assert(server, keyID, artifact).reason == "risk_metric_too_high")
        let receipts = try SimulatedAppleCA(at: service.clock.now).receiptRootCertificatePEM
        let anchor = service.authority.receiptRootCertificatePEM
        let text = AppAttestService.policy(
            service.authority, appAttest: "risk_metric: {key_id: SIMULATED1, private_key: 'env:KEY', refuse_above: 0}")
        let changed = text.replacing(
            anchor.replacing("\n", with: "\\n"), with: receipts.replacing("\n", with: "\\n"))
        try server.replacePolicies(.load([PolicyFile(name: "test.yaml", text: changed)]))
        #expect(try await service.assert(server, keyID, artifact).reason == nil)
        try await service.maintenance(server)
        #expect(service.apple.requests.count == 1)
    }

    @Test("A store that fails while a receipt is kept does not make the attestation fail by it")
    func failingStore() async throws {
        let service = try RiskService()
        let store = RejectingStore(service.store, rejecting: "receipt/")
        let server = try service.server(store: store)
        let (_, artifact, reply) = try await service.attested(by: server)
        #expect(reply.reason == nil)
        #expect(!artifact.isEmpty)
        #expect(try await service.entries("receipt/").isEmpty)
    }

    static let wrong: [(section: String, place: String, words: String)] = [
        ("key_id: short, private_key: 'env:KEY'", "risk_metric.key_id", "ten capital letters"),
        ("key_id: ABCDE12345", "risk_metric", "private_key"),
        ("key_id: ABCDE12345, private_key: secret", "risk_metric.private_key", "a policy must not contain a secret"),
        ("key_id: ABCDE12345, private_key: 'env:KEY', base_url: 'http://example.com'", "base_url", "https://host"),
        ("key_id: ABCDE12345, private_key: 'env:KEY', base_url: 'https://example.com?a'", "base_url", "query"),
        ("key_id: ABCDE12345, private_key: 'env:KEY', refuse_above: -1", "risk_metric.refuse_above", "0 or more"),
        ("key_id: ABCDE12345, private_key: 'env:KEY', unknown: refused", "risk_metric.unknown", "refuse_above"),
        ("key_id: ABCDE12345, private_key: 'env:KEY', refresh_interval: 1h", "refresh_interval", "1d to 29d"),
        ("key_id: ABCDE12345, private_key: 'env:KEY', refresh_interval: 30d", "refresh_interval", "for 30 days"),
        ("key_id: ABCDE12345, private_key: 'env:KEY', authorization: basic", "risk_metric.authorization", "bare"),
        ("key_id: ABCDE12345, private_key: 'env:KEY', refuse_abov: 3", "risk_metric.refuse_abov", "unknown key"),
        ("key_id: ABCDE12345, private_key: 'file:/proc/no/such/file'", "risk_metric.private_key", "cannot open"),
    ]

    @Test("What is wrong in the section is told with its place", arguments: wrong.indices)
    func policyErrors(_ index: Int) throws {
        let wrong = Self.wrong[index]
        let service = try RiskService()
        let pem = Array(service.team.privateKeyPEM.utf8)
        let secrets = SecretSource { (reference) throws(SecretError) in
            if case .file = reference.place { return try SecretSource.system.resolve(reference) }
            return pem
        }
        let text = AppAttestService.policy(service.authority, appAttest: "risk_metric: {\(wrong.section)}")
        let error = try #require(throws: Diagnostics.self) {
            try PolicySet.load([PolicyFile(name: "test.yaml", text: text)]).check(
                Registry([.provider(AppAttestProvider.self)]),
                host: PluginHost(store: service.store, secrets: secrets, logger: AppAttestService.silent))
        }
        let line = try #require(error.description.split(separator: "\n").first)
        #expect(line.hasPrefix("test.yaml:1"), "\(line)")
        #expect(error.description.contains(wrong.place), "\(error)")
        #expect(error.description.contains(wrong.words), "\(error)")
    }

    @Test("Receipts that are ignored cannot be exchanged: the policy says so")
    func ignoredReceipts() throws {
        let service = try RiskService()
        let text = AppAttestService.policy(
            service.authority, appAttest: "risk_metric: {key_id: ABCDE12345, private_key: 'env:KEY'}"
        ).replacing("receipts: required", with: "receipts: ignored")
        let error = try #require(throws: Diagnostics.self) {
            try PolicySet.load([PolicyFile(name: "test.yaml", text: text)]).check(
                Registry([.provider(AppAttestProvider.self)]),
                host: PluginHost(store: service.store, logger: AppAttestService.silent))
        }
        #expect(error.description.contains("app_attest.receipts: `risk_metric` needs receipts"))
    }
}
