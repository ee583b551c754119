import AssayCrypto
import Testing

@Suite struct RSAPublicKeyTests {
    static func key() throws -> (PrivateKey, RSAPublicKey) {
        let signer = try PrivateKey(pem: Array(TestPEM.rsaTraditional.utf8))
        guard case .rsa(let key) = signer.publicKey else { throw CryptoError(.invalidKey, "not RSA") }
        return (signer, key)
    }

    @Test("A signature is good for its message, digest and length only")
    func signatures() throws {
        let (signer, key) = try Self.key()
        let signature = try signer.sign([1, 2, 3])
        #expect(signature.count == 256)
        #expect(key.isValidSignature(signature[...], digest: .sha256, message: [1, 2, 3]))
        #expect(!key.isValidSignature(signature[...], digest: .sha384, message: [1, 2, 3]))
        #expect(!key.isValidSignature(signature[...], digest: .sha256, message: [1, 2, 4]))
        #expect(!key.isValidSignature(([0] + signature)[...], digest: .sha256, message: [1, 2, 3]))
        #expect(!key.isValidSignature(signature.dropLast(), digest: .sha256, message: [1, 2, 3]))
        #expect(!key.isValidSignature([], digest: .sha256, message: [1, 2, 3]))
        #expect(throws: CryptoError(.invalidArgument, "")) { try signer.sign([1], digest: .sha384) }
    }

    @Test("Leading zeros of the numbers do not matter")
    func leadingZeros() throws {
        let (_, key) = try Self.key()
        #expect(try RSAPublicKey(modulus: [0, 0] + key.modulus, exponent: [0] + key.exponent) == key)
        #expect(key.exponent == [1, 0, 1])
        #expect(key.bitCount == 2048)
    }

    @Test(
        "A modulus of fewer than 2048 or more than 4096 bits is refused", arguments: [0, 1, 128, 255, 513, 600, 4096])
    func sizes(_ count: Int) {
        let modulus = [UInt8](repeating: 0xFF, count: count)
        #expect(throws: CryptoError(.unsupportedKey, "")) { try RSAPublicKey(modulus: modulus, exponent: [1, 0, 1]) }
    }

    @Test("A modulus of 2047 bits is refused")
    func almost() {
        let modulus = [0x7F] + [UInt8](repeating: 0xFF, count: 255)
        #expect(throws: CryptoError(.unsupportedKey, "")) { try RSAPublicKey(modulus: modulus, exponent: [3]) }
    }

    @Test(
        "An even modulus, and an exponent that is even, below 3 or above 33 bits, is refused",
        arguments: [[], [0], [1], [2], [4], [1, 0, 0], [2, 0, 0, 0, 1], [1, 0, 0, 0, 0, 1]] as [[UInt8]])
    func exponents(_ exponent: [UInt8]) throws {
        let (_, key) = try Self.key()
        #expect(throws: CryptoError(.invalidKey, "")) { try RSAPublicKey(modulus: key.modulus, exponent: exponent) }
        #expect(throws: CryptoError(.invalidKey, "")) {
            try RSAPublicKey(modulus: key.modulus.dropLast() + [0], exponent: [1, 0, 1])
        }
    }

    @Test("Exponents at the bounds are taken", arguments: [[3], [1, 0, 1], [1, 0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]])
    func goodExponents(_ exponent: [UInt8]) throws {
        let (_, key) = try Self.key()
        #expect(try RSAPublicKey(modulus: key.modulus, exponent: exponent).exponent == exponent)
    }
}
