import AssayAppAttest
import AssayCBOR
import AssayCore
import AssayCrypto
import AssayKit
import AssayTestSupport
import AssayTesting
import Synchronization
import Testing

@Suite("What a later release of Apple's systems may add, or leave out")
struct UnknownMembersTests {
    @Test("Members that are not known are in the record and counted, and the log warns once of each name")
    func recordedCountedAndWarned() async throws {
        let log = RecordingLog()
        let counts = Counts()
        let service = try AppAttestService(logger: log.logger, meter: counts.meter)
        var attestation = AttestationOptions()
        attestation.object = { $0["inObject"] = .array([.unsigned(1)]) }
        attestation.statement = { $0["in statement\u{202E}"] = .null }
        var assertion = AssertionOptions()
        assertion.object = { $0["inAssertion"] = .text("a") }

        for _ in 0..<2 {
            let keyID = try service.device.generateKey()
            let reply = try await service.attest(keyID, challenge: service.challenge(), options: attestation)
            #expect(members(in: reply, service) == "inObject, attStmt.in?statement???")
            let artifact = try #require(
                try reply.result.get()["artifact"]?.string.flatMap { Base64.decode($0) })
            let asserted = try await service.assert(keyID, artifact, options: assertion)
            #expect(members(in: asserted, service) == "inAssertion")
            // A genuine device of today has none.
            #expect(members(in: try await service.assert(keyID, artifact), service) == nil)
        }
        #expect(counts.of("app_attest_unknown_members_total attestation") == 4)
        #expect(counts.of("app_attest_unknown_members_total assertion") == 2)
        let warnings = log.lines.filter { $0.contains("members that this version does not know") }
        #expect(warnings.count == 2)
        #expect(warnings.first?.contains("members=inObject, attStmt.in?statement???") == true)
        #expect(warnings.last?.contains("members=inAssertion") == true)
    }

    @Test("A record names eight members at most, each cut, and says how many there are more")
    func many() async throws {
        let service = try AppAttestService()
        var options = AttestationOptions()
        options.object = { object in
            for number in 0..<20 { object["\(number)\(String(repeating: "n", count: 200))"] = .null }
        }
        let reply = try await service.attest(
            service.device.generateKey(), challenge: service.challenge(), options: options)
        let words = try #require(members(in: reply, service))
        #expect(words.hasPrefix("0nnn"))
        #expect(words.hasSuffix(" and 12 more"))
        #expect(words.utf8.count < 8 * 66 + 20)
    }

    @Test("Nobody's evidence is counted but that which is verified")
    func refusedIsNotCounted() async throws {
        let counts = Counts()
        let service = try AppAttestService(meter: counts.meter)
        var options = AttestationOptions()
        options.object = { object in
            object["more"] = .null
            object.changeBytes("authData") { $0.flipping(-1) }
        }
        let reply = try await service.attest(
            service.device.generateKey(), challenge: service.challenge(), options: options)
        #expect(reply.reason != nil)
        #expect(counts.of("app_attest_unknown_members_total attestation") == 0)
    }

    struct ReceiptCase: Sendable, CustomTestStringConvertible {
        let reason: String
        let change: @Sendable (inout AttestationOptions, [UInt8]) -> Void
        var testDescription: String { reason }
    }

    static let receipts = [
        ReceiptCase(reason: "receipt_missing") { options, _ in options.statement = { $0["receipt"] = nil } },
        ReceiptCase(reason: "receipt_malformed") { options, _ in options.receiptBytes = { $0 = [] } },
        ReceiptCase(reason: "receipt_key_mismatch") { options, other in options.receiptBytes = { $0 = other } },
        ReceiptCase(reason: "receipt_app_id_mismatch") { options, _ in
            options.receipt = { $0[.appID] = Array("ABCDE12345.com.example.other".utf8) }
        },
        ReceiptCase(reason: "receipt_signature_invalid") { options, _ in
            options.receiptBytes = { $0[$0.count - 40] ^= 1 }
        },
    ]

    @Test(
        "One word of the policy decides on a missing receipt and on each wrong one alike", arguments: receipts,
        ["required", "recorded", "ignored"])
    func receiptPolicies(_ test: ReceiptCase, _ policy: String) async throws {
        let service = try AppAttestService(receipts: policy)
        let challenge = try await service.challenge()
        let other = SimulatedDevice(authority: service.authority)
        let receipt = ByteBox()
        var capture = AttestationOptions()
        capture.receiptBytes = { receipt.bytes = $0 }
        _ = try other.attestKey(
            other.generateKey(), clientDataHash: SHA256.hash(challenge), app: service.simulatedApp,
            at: service.clock.now, options: capture)

        var options = AttestationOptions()
        test.change(&options, receipt.bytes)
        let reply = try await service.attest(service.device.generateKey(), challenge: challenge, options: options)
        let fact = service.sink.record(of: reply.decision)?.facts.first { $0.name == AppAttestFacts.receipt }?.value
        switch policy {
        case "required": #expect(reply.reason == test.reason)
        case "recorded":
            #expect(reply.reason == nil)
            #expect(fact == .text(test.reason))
        default:
            #expect(reply.reason == nil)
            #expect(fact == nil)
        }
    }

    private func members(in reply: Reply, _ service: AppAttestService) -> String? {
        let fact = service.sink.record(of: reply.decision)?.facts.first { $0.name == AppAttestFacts.unknownMembers }
        guard case .text(let words)? = fact?.value else { return nil }
        return words
    }
}

/// What a plugin counts, by scope, metric and labels.
private final class Counts: Sendable {
    private let sums = Mutex<[String: Double]>([:])

    var meter: Meter {
        Meter { [self] scope, metric, change, labels in
            guard case .add(let amount) = change else { return }
            sums.withLock { $0["\(scope)\(metric.name) \(labels.joined(separator: " "))", default: 0] += amount }
        }
    }

    func of(_ name: String) -> Double {
        sums.withLock { $0[name] ?? 0 }
    }
}
