import AssayCore
import Testing

@testable import AssayVerifier

@Suite("The memory of verified tokens")
struct VerifiedTokenCacheTests {
    private func token(_ number: Int) -> VerifiedToken {
        VerifiedToken(
            subject: "app \(number)", audience: ["projects/1"], provider: "debug", issuer: "i",
            expires: Instant(seconds: 2), issued: Instant(seconds: 1), id: "\(number)")
    }

    private func key(_ number: Int) -> TokenDigest { TokenDigest(of: "token \(number)") }

    @Test("A token is found by its whole text, until it is taken out")
    func lookUp() {
        let cache = VerifiedTokenCache(limit: 10)
        cache.insert(token(1), key(1))
        #expect(cache.token(key(1)) == token(1))
        #expect(cache.token(key(2)) == nil)
        #expect(cache.token(TokenDigest(of: "token 1 ")) == nil)
        cache.remove(key(1))
        #expect(cache.token(key(1)) == nil)
        cache.remove(key(1))
    }

    @Test(
        "However many tokens come, no more are kept than the limit, and the last ones are", arguments: [2, 3, 10, 100])
    func bound(_ limit: Int) {
        let cache = VerifiedTokenCache(limit: limit)
        for number in 0..<500 {
            cache.insert(token(number), key(number))
            #expect(cache.count <= limit)
        }
        #expect(cache.token(key(499)) != nil)
        #expect(cache.token(key(0)) == nil)
    }

    @Test("A token that is looked up again and again stays, whatever else comes")
    func used() {
        let cache = VerifiedTokenCache(limit: 20)
        cache.insert(token(-1), key(-1))
        for number in 0..<500 {
            cache.insert(token(number), key(number))
            if number % 5 == 0 { #expect(cache.token(key(-1)) != nil) }
        }
        #expect(cache.count <= 20)
    }

    @Test("A token that was taken out does not come back, though it was among the older ones")
    func removed() {
        let cache = VerifiedTokenCache(limit: 4)
        for number in 0..<3 { cache.insert(token(number), key(number)) }
        for number in 0..<3 { cache.remove(key(number)) }
        for number in 0..<3 { #expect(cache.token(key(number)) == nil) }
        #expect(cache.count == 0)
    }

    @Test("Without room nothing is kept, and nothing fails", arguments: [-1, 0, 1])
    func noRoom(_ limit: Int) {
        let cache = VerifiedTokenCache(limit: limit)
        cache.insert(token(1), key(1))
        #expect(cache.token(key(1)) == nil)
        #expect(cache.count == 0)
    }
}
