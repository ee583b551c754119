import AssayCore
import AssayKit
import Testing

@testable import AssayFleetEngine

@Suite("Signed tokens that are kept")
struct SignedTokensTests {
    private let start = Instant(seconds: 1_795_262_400)

    @Test("There are never more than the limit, and the oldest makes room")
    func bounds() throws {
        var kept = SignedTokens()
        let limit = SignedTokens.limit
        for number in 0..<limit + 10 {
            let time = start + .milliseconds(Int64(number))
            _ = kept.keep(token(number, at: time), try key(number), at: time)
            #expect(kept.count <= limit)
        }
        #expect(kept.count == limit)
        let now = start + .seconds(10)
        for number in 0..<10 { #expect(kept.token(try key(number), at: now) == nil) }
        for number in [10, limit, limit + 9] {
            #expect(kept.token(try key(number), at: now)?.text == "token \(number)")
        }
    }

    @Test("A token that replaced another one does not go with it")
    func successors() throws {
        var kept = SignedTokens()
        _ = kept.keep(token(0, at: start), try key(0), at: start)
        let later = start + .seconds(3000)
        _ = kept.keep(token(-1, at: later), try key(0), at: later)
        for number in 1..<SignedTokens.limit { _ = kept.keep(token(number, at: later), try key(number), at: later) }
        #expect(kept.token(try key(0), at: later)?.text == "token -1")
        #expect(kept.count == SignedTokens.limit)
    }

    @Test("Of two that were signed at once, both callers get the first")
    func first() throws {
        var kept = SignedTokens()
        #expect(kept.keep(token(1, at: start), try key(1), at: start).text == "token 1")
        #expect(kept.keep(token(2, at: start), try key(1), at: start).text == "token 1")
    }

    @Test("Long claims are not kept, so that the memory is bounded")
    func long() throws {
        let ids = (0..<64).compactMap { FleetEngineID("task-with-a-rather-long-name-\($0)") }
        let claims = try FleetEngineClaims(.deliveryServer, [.task: ids])
        #expect(SignedTokens.Key(claims, by: "a", for: "b") == nil)
    }

    private func token(_ number: Int, at time: Instant) -> FleetEngineToken {
        FleetEngineToken("token \(number)", created: time, expires: time + .seconds(3540))
    }

    private func key(_ number: Int) throws -> SignedTokens.Key {
        let claims = try FleetEngineClaims(.driver, [.vehicle: [try #require(FleetEngineID("v\(number)"))]])
        return try #require(SignedTokens.Key(claims, by: "account", for: "audience"))
    }
}
