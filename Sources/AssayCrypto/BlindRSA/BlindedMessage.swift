internal import CLibCrypto

/// A client's side of a blind signature (RFC 9474, sections 4.2 and 4.4), for simulated clients: its arithmetic takes no care to
/// hide the message by its timing.
package struct BlindedMessage: Sendable {
    /// What the issuer signs: as long as the modulus.
    package let bytes: [UInt8]
    private let message: [UInt8]
    private let blind: [UInt8]
    private let key: BlindRSAPublicKey

    /// Blinds a message.
    ///
    /// - Parameters:
    ///   - salt: of the signature, 48 random bytes; another length makes a signature that nobody accepts.
    ///   - blind: a random number below the modulus.
    /// - Throws: ``CryptoError`` (`invalid_argument`) for a blind that has no inverse.
    package init(
        _ message: [UInt8], for key: BlindRSAPublicKey, salt: [UInt8], blind: [UInt8]
    ) throws(CryptoError) {
        (self.message, self.blind, self.key) = (message, blind, key)
        let encoded = Self.encoded(message, salt: salt, bits: key.key.bitCount - 1)
        bytes = try Self.arithmetic(key.key) { numbers in
            let (blind, message) = (numbers.number(blind), numbers.number(encoded))
            guard BN_mod_exp(blind, blind, numbers.exponent, numbers.modulus, numbers.context) == 1 else { return nil }
            return BN_mod_mul(blind, blind, message, numbers.modulus, numbers.context) == 1 ? blind : nil
        }
    }

    /// The signature of the message (RFC 9474, section 4.4, Finalize).
    ///
    /// - Throws: ``CryptoError`` (`authentication_failed`) when the issuer's answer is not a signature by its key.
    package func signature(from answer: [UInt8]) throws(CryptoError) -> [UInt8] {
        let signature = try uncheckedSignature(from: answer)
        guard key.isValidSignature(signature[...], message: message[...]) else {
            throw CryptoError(.authenticationFailed, "the issuer's answer is no signature by its key")
        }
        return signature
    }

    /// The same without the check, for answers that a server must refuse.
    package func uncheckedSignature(from answer: [UInt8]) throws(CryptoError) -> [UInt8] {
        try Self.arithmetic(key.key) { numbers in
            let (blind, answer) = (numbers.number(blind), numbers.number(answer))
            guard BN_mod_inverse(blind, blind, numbers.modulus, numbers.context) != nil else { return nil }
            return BN_mod_mul(answer, answer, blind, numbers.modulus, numbers.context) == 1 ? answer : nil
        }
    }

    /// EMSA-PSS-ENCODE (RFC 8017, section 9.1.1) with SHA-384 and MGF1 with SHA-384.
    private static func encoded(_ message: [UInt8], salt: [UInt8], bits: Int) -> [UInt8] {
        let count = (bits + 7) / 8
        let hash = SHA384.hash([UInt8](repeating: 0, count: 8) + SHA384.hash(message) + salt)
        var block = [UInt8](repeating: 0, count: max(0, count - hash.count - salt.count - 2)) + [1] + salt
        var mask: [UInt8] = []
        var counter: UInt32 = 0
        while mask.count < block.count {
            mask += SHA384.hash(hash + withUnsafeBytes(of: counter.bigEndian) { Array($0) })
            counter += 1
        }
        for index in block.indices { block[index] ^= mask[index] }
        // The number is below the modulus.
        for index in block.indices.prefix(1) { block[index] &= 0xFF >> UInt8(8 * count - bits) }
        return block + hash + [0xBC]
    }

    /// Numbers modulo a key's modulus, which are freed together.
    private final class Numbers {
        let context = BN_CTX_new()
        let modulus: OpaquePointer?
        let exponent: OpaquePointer?
        private var all: [OpaquePointer?] = []

        init(_ key: RSAPublicKey) {
            modulus = BN_bin2bn(key.modulus, Int32(clamping: key.modulus.count), nil)
            exponent = BN_bin2bn(key.exponent, Int32(clamping: key.exponent.count), nil)
        }

        func number(_ bytes: [UInt8]) -> OpaquePointer? {
            let number = BN_bin2bn(bytes, Int32(clamping: bytes.count), nil)
            all.append(number)
            return number
        }

        deinit {
            for number in all + [modulus, exponent] { BN_clear_free(number) }
            BN_CTX_free(context)
        }
    }

    private static func arithmetic(
        _ key: RSAPublicKey, _ compute: (Numbers) -> OpaquePointer?
    ) throws(CryptoError) -> [UInt8] {
        let numbers = Numbers(key)
        guard let result = compute(numbers) else { throw .fromQueue(.invalidArgument, "a number cannot be blinded") }
        var bytes = [UInt8](repeating: 0, count: key.modulus.count)
        guard BN_bn2binpad(result, &bytes, Int32(clamping: bytes.count)) == Int32(clamping: bytes.count) else {
            throw .fromQueue(.operationFailed, "a number is too large")
        }
        return withExtendedLifetime(numbers) { bytes }
    }
}
