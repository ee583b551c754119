import AssayApple
import AssayCore
import AssayCrypto
import AssayKit
import AssayTestSupport
import AssayTesting
import Testing

@testable import AssayAppAttest

@Suite("The exchange of receipts", .timeLimit(.minutes(20)))
struct ReceiptExchangeTests {
    @Test("A receipt is exchanged for a newer one of the same key, which carries the risk metric")
    func renewed() async throws {
        let scene = try ExchangeScene()
        scene.apple.riskMetric = 7
        guard case .renewed(let receipt, let bytes) = try await scene.outcome() else {
            Issue.record("it is not renewed")
            return
        }
        #expect(receipt.riskMetric == 7)
        #expect(receipt.created == scene.clock.now)
        #expect(receipt.notBefore == scene.clock.now + .seconds(86_400))
        let request = try #require(scene.apple.requests.first)
        #expect(scene.apple.requests.count == 1)
        #expect(request.method == .post)
        #expect(request.url.text == "https://data-development.appattest.apple.com/v1/attestationData")
        #expect(Base64.decode(utf8: request.body) == scene.kept.receipt)
        #expect(request.body == Array(Base64.encode(scene.kept.receipt).utf8), "standard and padded")
        // The new one is what is sent the next time.
        var later = scene
        later.kept = KeptReceipt(
            receipt, bytes: bytes, environment: .development, publicKey: scene.kept.publicKey, root: scene.kept.root)
        #expect(try await later.outcome() == .unchanged)
        scene.clock.advance(by: .seconds(86_400))
        guard case .renewed = try await later.outcome() else {
            Issue.record("it is not renewed again")
            return
        }
    }

    @Test(
        "The token stands in the header as the policy says",
        arguments: [
            (AppleAuthorizationForm.bare, SimulatedAppleServer.AuthorizationForm.bare, true), (.bearer, .bearer, true),
            (.bare, .bearer, false), (.bearer, .bare, false),
        ])
    func forms(
        _ form: AppleAuthorizationForm, _ accepted: SimulatedAppleServer.AuthorizationForm, _ isGood: Bool
    ) async throws {
        var scene = try ExchangeScene(form: accepted)
        scene.form = form
        let code = try await scene.outcome().event.code
        #expect(code == (isGood ? "receipt_exchange_renewed" : "receipt_exchange_unauthorized"))
    }

    private static func text(_ status: Int, _ text: String) -> ScriptedAnswer {
        .respond(OutboundResponse(status: status, body: Array(text.utf8)))
    }

    /// The answer each time, the code, and how many requests are made.
    static let answers: [(ScriptedAnswer, String, Int)] = [
        (text(304, ""), "not_yet", 1),
        (text(400, "Incorrect Environment"), "wrong_environment", 1),
        (text(400, "bad payload\r\n"), "payload_refused", 1),
        (text(400, ""), "request_refused", 1),
        (text(400, "something else"), "request_refused", 1),
        (text(400, "\u{0}\u{1}environment"), "request_refused", 1),
        (text(400, String(repeating: "QUJDenvironment", count: 40)), "request_refused", 1),
        (text(401, "Unable to verify authorization token"), "unauthorized", 2),
        (text(404, ""), "nothing_recent", 1),
        (text(429, ""), "throttled", 4),
        (text(500, ""), "unavailable", 4),
        (text(503, ""), "unavailable", 4),
        (text(302, ""), "unexpected_status", 1),
        (text(201, ""), "unexpected_status", 1),
        (text(200, ""), "malformed", 1),
        (text(200, " \n"), "malformed", 1),
        (text(200, "<html>"), "malformed", 1),
        (text(200, "AAAA"), "receipt_refused", 1),
        (text(200, String(repeating: "A", count: 120_000)), "receipt_refused", 1),
        (text(200, String(repeating: "A", count: 200_000)), "too_large", 1),
        (.silence, "timed_out", 4),
        (.hangUp, "unreachable", 4),
    ]

    @Test("Each answer has its own code, and only what may pass is tried again", arguments: answers.indices)
    func answer(_ index: Int) async throws {
        let (answer, code, requests) = Self.answers[index]
        let scene = try ExchangeScene()
        scene.apple.script(Array(repeating: answer, count: 10))
        #expect(try await scene.outcome().event.code == "receipt_exchange_\(code)")
        #expect(scene.apple.requests.count == requests)
    }

    @Test(
        "What fails a few times and then succeeds has succeeded",
        arguments: [[429], [500, 503, 502], [401], [401, 500], [503, 401, 503]])
    func recovery(_ statuses: [Int]) async throws {
        let scene = try ExchangeScene()
        scene.apple.script(statuses.map { Self.text($0, "") })
        #expect(try await scene.outcome().event.code == "receipt_exchange_renewed")
        #expect(scene.apple.requests.count == statuses.count + 1)
    }

    @Test("A token that is refused is made anew, once")
    func newToken() async throws {
        let scene = try ExchangeScene()
        scene.apple.script([Self.text(401, ""), .proceed])
        _ = try await scene.outcome()
        let tokens = scene.apple.requests.map { $0.header("authorization") }
        #expect(Set(tokens).count == 2)
        scene.apple.script(Array(repeating: Self.text(401, ""), count: 9))
        _ = try await scene.outcome()
        #expect(scene.apple.requests.count == 4)
    }

    @Test("Retry-After is waited for when it is short; else the receipt is put off for as long, a day at most")
    func retryAfter() async throws {
        func answer(_ value: String) -> ScriptedAnswer {
            .respond(OutboundResponse(status: 429, headers: [OutboundHeader("Retry-After", value)]))
        }
        let short = try ExchangeScene()
        short.apple.script([answer("25")])
        #expect(try await short.outcome().event.code == "receipt_exchange_renewed")
        #expect(short.clock.now >= Simulation.now + .seconds(25))
        for (value, seconds) in [("3600", 3600), ("99999999", 86_400)] {
            let long = try ExchangeScene()
            long.apple.script([answer(value)])
            guard case .failed(let failure) = try await long.outcome() else {
                Issue.record("it is renewed")
                return
            }
            #expect(failure.retryAfter == .seconds(seconds))
            #expect(long.apple.requests.count == 1)
        }
    }

    @Test("No try is made, and none waited for, beyond the deadline")
    func deadline() async throws {
        let scene = try ExchangeScene()
        scene.apple.script(Array(repeating: .silence, count: 9))
        #expect(try await scene.outcome(within: .seconds(12)).event.code == "receipt_exchange_timed_out")
        #expect(scene.clock.now <= Simulation.now + .seconds(13))
        let late = try ExchangeScene()
        #expect(try await late.outcome(within: .zero).event.code == "receipt_exchange_timed_out")
        #expect(late.apple.requests.isEmpty)
    }

    @Test("Cancelled while it waits for another try, it says so, and is no failure of Apple's")
    func cancellation() async throws {
        let scene = try ExchangeScene()
        scene.apple.script([Self.text(503, "")])
        let (exchange, kept, deadline) = (try scene.exchange(), scene.kept, scene.clock.now + .seconds(60))
        let task = Task { await exchange.exchange(kept, deadline: deadline) }
        await scene.clock.waitForSleepers(1)
        task.cancel()
        #expect(await task.value.event.code == "receipt_exchange_cancelled")
        #expect(scene.apple.requests.count == 1)
    }

    @Test("A receipt of another key, app, environment, authority or kind is not taken for the new one")
    func otherReceipts() async throws {
        let scene = try ExchangeScene()
        let other = try ExchangedReceiptScene()
        func refusal(_ template: ReceiptTemplate) async throws -> String? {
            scene.apple.script([Self.text(200, Base64.encode(try template.signed()))])
            guard case .failed(let failure) = try await scene.outcome() else { return nil }
            #expect(failure.kind == .receiptRefused)
            return failure.detail.map { String($0.prefix { $0 != ":" }) }
        }
        #expect(try await refusal(other.template) == nil, "it is the same key's, and genuine")
        var template = other.template
        var second = try AttestationScene()
        second.keySeed = 11
        template[.certificate] = try second.leaf()
        #expect(try await refusal(template) == "receipt_key_mismatch")
        template = other.template
        template[.appID] = Array("ABCDE12345.com.example.other".utf8)
        #expect(try await refusal(template) == "receipt_app_id_mismatch")
        template = other.template
        template[.environment] = Array("production".utf8)
        #expect(try await refusal(template) == "receipt_environment_mismatch")
        template = other.template
        template[.riskMetric] = nil
        #expect(try await refusal(template) == "receipt_field_missing")
        template = other.template
        template[.receiptType] = Array("ATTEST".utf8)
        template[.riskMetric] = nil
        #expect(try await refusal(template) == "receipt_type_unexpected")
        template = other.template
        template[.creationTime] = Array((Simulation.now - .seconds(301)).description.utf8)
        #expect(try await refusal(template) == "receipt_too_old")
        template = ReceiptTemplate(
            fields: other.template.fields, signedBy: try SimulatedAppleCA(at: Simulation.now))
        #expect(try await refusal(template) == "receipt_root_unknown")
    }

    @Test("The server tells another team, the other environment and a key that it forgot apart")
    func documentedAnswers() async throws {
        let other = try ExchangeScene(team: "ZZZZZ99999")
        #expect(try await other.outcome().event.code == "receipt_exchange_unauthorized")
        var mixed = try ExchangeScene()
        mixed.kept.environment = .production
        #expect(try await mixed.outcome().event.code == "receipt_exchange_wrong_environment")
        let forgotten = try ExchangeScene()
        forgotten.apple.forget(Base64.encode(SHA256.hash(forgotten.kept.publicKey)))
        #expect(try await forgotten.outcome().event.code == "receipt_exchange_nothing_recent")
        var broken = try ExchangeScene()
        broken.kept.receipt = [1, 2, 3]
        #expect(try await broken.outcome().event.code == "receipt_exchange_payload_refused")
        let none = try ExchangeScene()
        let outcome = try await none.exchange(http: NoOutboundHTTP())
            .exchange(none.kept, deadline: Simulation.now + .seconds(60))
        #expect(outcome.event.code == "receipt_exchange_not_sent")
    }

    @Test(
        "Apple's own answers are taken, but for those with the faulty signatures of 2020",
        .enabled(if: Fixture.isPresent, Comment(rawValue: SharedFiles.absence)), arguments: Fixture.receipts)
    func realReceipts(_ fixture: Fixture) async throws {
        let bytes = try fixture.bytes("receipt_base64")
        let created = try #require(Instant(rfc3339: fixture.object("fields")["12"]?.text ?? ""))
        let verifier = try ReceiptVerifier()
        let appID = try fixture.appID()
        let known = verifier.verify(bytes, expecting: ReceiptExpectation(appID: appID), at: created)
        let receipt = try #require(known.receipt)
        let key = try Certificate(der: receipt.certificate[...]).key.bytes
        let kept = KeptReceipt(
            receipt, bytes: bytes, environment: .development, publicKey: Array(key),
            root: [UInt8](repeating: 1, count: 32))
        #expect(KeptReceipt(encoded: kept.encoded) == kept)
        #expect(kept.due(refreshInterval: .zero) == created + .seconds(86_400))

        let scene = try ExchangeScene()
        scene.clock.set(created + .seconds(1))
        scene.apple.script([Self.text(200, Base64.encode(bytes) + "\n")])
        let base = try scene.exchange()
        let exchange = ReceiptExchange(
            http: scene.apple, clock: base.clock, randomness: .system, key: base.key, form: .bare,
            endpoints: base.endpoints, verifier: verifier, appID: appID)
        let outcome = await exchange.exchange(kept, deadline: scene.clock.now + .seconds(60))
        if fixture.text("expected") == "valid" {
            #expect(outcome == .renewed(receipt, bytes: bytes))
        } else {
            #expect(outcome == .failed(ReceiptExchangeFailure(.receiptRefused, "receipt_legacy_not_allowed")))
        }
    }
}
