import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import Testing

@testable import AssayAppAttest

@Suite("Receipts that are kept")
struct KeptReceiptTests {
    @Test("What is stored is read back whole, with and without what may be missing")
    func layout() throws {
        var kept = try ExchangeScene().kept
        #expect(KeptReceipt(encoded: kept.encoded) == kept)
        kept.notBefore = kept.created + .seconds(1)
        kept.metric = RiskMetric(value: 15, determined: kept.created)
        kept.nextTry = kept.created + .seconds(9)
        kept.failures = 200
        kept.environment = .production
        #expect(KeptReceipt(encoded: kept.encoded) == kept)
        for count in [0, 1, 147, 148] { #expect(KeptReceipt(encoded: Array(kept.encoded.prefix(count))) == nil) }
        #expect(KeptReceipt(encoded: [2] + kept.encoded.dropFirst()) == nil)
    }

    @Test("A receipt of an attestation is due at once, a newer one when Apple or the policy allows, a failed one later")
    func due() throws {
        var kept = try ExchangeScene().kept
        #expect(kept.due(refreshInterval: .seconds(999_999)) == kept.created)
        kept.notBefore = kept.created + .seconds(86_400)
        #expect(kept.due(refreshInterval: .zero) == kept.created + .seconds(86_400))
        #expect(kept.due(refreshInterval: .seconds(200_000)) == kept.created + .seconds(200_000))
        kept.nextTry = kept.created + .seconds(77)
        #expect(kept.due(refreshInterval: .zero) == kept.created + .seconds(77))
    }

    @Test("Wishes come in the order of time, those alone whose time has come, page by page")
    func order() async throws {
        let clock = ManualClock(Simulation.now)
        let state = StateSpace("app_attest/x", in: MemoryStore(clock: clock.hostClock))
        let receipts = KeptReceipts(state: state, refreshInterval: .zero)
        var kept = try ExchangeScene().kept
        for (index, seconds) in [300, -200, 0, 100, -100].enumerated() {
            kept.nextTry = clock.now + .seconds(seconds)
            try await receipts.wish(kept, of: "key\(index)")
            try await receipts.wish(kept, of: "key\(index)")
            try await receipts.keep(kept, of: "key\(index)")
        }
        #expect(try await receipts.due(at: clock.now, after: nil, limit: 10).map(\.key) == ["key1", "key4", "key2"])
        let first = try await receipts.due(at: clock.now, after: nil, limit: 2)
        #expect(first.map(\.key) == ["key1", "key4"])
        #expect(try await receipts.due(at: clock.now, after: first.last, limit: 2).map(\.key) == ["key2"])
        clock.advance(by: .seconds(300))
        #expect(try await receipts.due(at: clock.now, after: nil, limit: 10).count == 5)
    }

    @Test("One claims a receipt, until it is released or the claim is old")
    func claims() async throws {
        let clock = ManualClock(Simulation.now)
        let state = StateSpace("app_attest/x", in: MemoryStore(clock: clock.hostClock))
        let receipts = KeptReceipts(state: state, refreshInterval: .zero)
        #expect(try await receipts.claim("key", at: clock.now))
        #expect(try await !receipts.claim("key", at: clock.now))
        #expect(try await receipts.claim("other", at: clock.now))
        try await receipts.release("key")
        #expect(try await receipts.claim("key", at: clock.now))
        clock.advance(by: .seconds(300))
        #expect(try await receipts.claim("key", at: clock.now))
    }
}
