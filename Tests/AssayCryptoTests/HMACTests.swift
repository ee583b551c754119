import AssayCore
import AssayCrypto
import Testing

@Suite struct HMACTests {
    // RFC 4231, section 4.3.
    @Test("A code in parts is that of the whole, and the published one")
    func parts() throws {
        let authenticator = HMACSHA256(key: "Jefe".utf8)
        let message = Array("what do ya want for nothing?".utf8)
        let expected = try fromHex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(authenticator.authenticate(message[...]) == expected)
        #expect(authenticator.authenticate(message[..<5], [], message[5...]) == expected)
        #expect(authenticator.isValid(expected, for: message[..<1], message[1...]))
        #expect(HMACSHA256(key: SecretBytes("Jefe".utf8)).authenticate(message[...]) == expected)
    }

    @Test("A code that differs in any one bit, or in length, is not valid")
    func damaged() {
        let authenticator = HMACSHA256(key: [UInt8](repeating: 9, count: 32))
        let code = authenticator.authenticate([1, 2, 3])
        for bit in 0..<256 {
            var damaged = code
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!authenticator.isValid(damaged, for: [1, 2, 3]))
        }
        #expect(!authenticator.isValid([], for: [1, 2, 3]))
        #expect(!authenticator.isValid(code + [0], for: [1, 2, 3]))
        #expect(!authenticator.isValid(code.dropLast(), for: [1, 2, 3]))
    }

    @Test("An empty key is a key, as RFC 2104 has it")
    func emptyKey() throws {
        let expected = try fromHex("b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
        #expect(HMACSHA256(key: []).authenticate() == expected)
    }
}
