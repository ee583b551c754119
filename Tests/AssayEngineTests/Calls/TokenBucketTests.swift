import AssayCore
import AssayPolicy
import Testing

@testable import AssayEngine

@Suite("The arithmetic of rate limits")
struct TokenBucketTests {
    private let stranger = PeerGroup("192.0.2.1")

    private func taken(
        _ bucket: TokenBucket, at uptime: Duration, peer: PeerGroup, isVerified: Bool = false, tries: Int = 1000
    ) -> Int {
        (0..<tries).count { _ in bucket.take(at: uptime, for: peer, isVerified: isVerified) == nil }
    }

    @Test("A peer alone has the burst and the part of the reserve that is its own, then the rate")
    func rate() {
        let bucket = TokenBucket(RateLimit(requests: 60, interval: .seconds(60), burst: 64))
        let first = taken(bucket, at: .zero, peer: stranger)
        #expect((64...80).contains(first))
        // One a second is the rate, whoever asks.
        #expect(taken(bucket, at: .seconds(10), peer: PeerGroup("192.0.2.2")) >= 10)
    }

    @Test("The wait that is told is enough, and a moment less is not")
    func wait() throws {
        let bucket = TokenBucket(RateLimit(requests: 1, interval: .seconds(60), burst: 1))
        while bucket.take(at: .zero, for: stranger, isVerified: false) == nil {}
        let wait = try #require(bucket.take(at: .zero, for: stranger, isVerified: false))
        #expect(wait > .zero)
        #expect(bucket.take(at: wait - .milliseconds(1), for: stranger, isVerified: false) != nil)
        #expect(bucket.take(at: wait, for: stranger, isVerified: false) == nil)
    }

    @Test("What was refused takes nothing: however often a peer tries, its wait stays the same")
    func refusals() throws {
        let bucket = TokenBucket(RateLimit(requests: 10, interval: .seconds(60), burst: 10))
        _ = taken(bucket, at: .zero, peer: stranger, tries: 100)
        let wait = try #require(bucket.take(at: .zero, for: stranger, isVerified: false))
        #expect(taken(bucket, at: .zero, peer: stranger, tries: 10_000) == 0)
        #expect(bucket.take(at: .zero, for: stranger, isVerified: false) == wait)
    }

    @Test("When strangers have used up the burst, a verified peer still has more than another stranger")
    func verified() {
        func left(isVerified: Bool) -> Int {
            let bucket = TokenBucket(RateLimit(requests: 800, interval: .seconds(60), burst: 800))
            for number in 0..<200 { _ = taken(bucket, at: .zero, peer: PeerGroup("10.0.0.\(number)"), tries: 50) }
            return taken(bucket, at: .zero, peer: PeerGroup("198.51.100.1"), isVerified: isVerified)
        }
        #expect(left(isVerified: true) > left(isVerified: false))
    }

    @Test("One network of IPv6 has no more of the reserve for all its addresses than a site's share")
    func site() {
        func reserve(_ address: (Int) -> String) -> Int {
            let bucket = TokenBucket(RateLimit(requests: 800, interval: .seconds(60), burst: 800))
            // The common part is used up by one who then has no share left.
            _ = taken(bucket, at: .zero, peer: stranger, tries: 2000)
            return (0..<200).count { bucket.take(at: .zero, for: PeerGroup(address($0)), isVerified: false) == nil }
        }
        let sameSite = reserve { "2001:db8:1:\(String($0, radix: 16))::1" }
        let manySites = reserve { "2001:db8:\(String($0, radix: 16)):1::1" }
        #expect(sameSite < manySites)
        #expect(sameSite >= 1)
    }
}
