import AssayCore
import AssayCrypto
import Testing

@Suite("Blind signatures of RSA")
struct BlindRSATests {
    private let key: BlindRSAPrivateKey

    init() throws { key = try BlindRSAPrivateKey(PrivateKey(pem: Array(BlindRSAVectors.privateKey.utf8))) }

    private static func hex(_ text: String) -> [UInt8] { Hex.decode(text) ?? [] }

    @Test("An issuer's key has the form that RFC 9578 shows")
    func form() throws {
        let der = Self.hex(BlindRSAVectors.publicKey)
        #expect(key.publicKey.subjectPublicKeyInfo == der)
        let read = try BlindRSAPublicKey(subjectPublicKeyInfo: der)
        #expect(read == key.publicKey)
        #expect(Hex.encode(read.identifier) == "ca572f8982a9ca248a3056186322d93ca147266121ddeb5632c07f1f71cd2708")
        #expect("\(key)" == "<RSA-2048 private key for blind signatures>")
    }

    @Test("Issuances of RFC 9578, appendix B.2, have the same bytes", arguments: BlindRSAVectors.issuances)
    func issuance(_ vector: BlindRSAVectors.Issuance) throws {
        let token = Self.hex(vector.token)
        let signed = Array(token.prefix(98))
        #expect(
            signed == [0, 2] + Self.hex(vector.nonce) + SHA256.hash(Self.hex(vector.challenge))
                + key.publicKey.identifier)
        let blinded = try BlindedMessage(
            signed, for: key.publicKey, salt: Self.hex(vector.salt), blind: Self.hex(vector.blind))
        let request = Self.hex(vector.request)
        #expect(request == [0, 2, 0x08] + blinded.bytes)
        let answer = try key.sign(blinded: blinded.bytes)
        #expect(answer == Self.hex(vector.response))
        #expect(try blinded.signature(from: answer) == Array(token.dropFirst(98)))
        #expect(key.publicKey.isValidSignature(token[98...], message: token[..<98]))
    }

    @Test("A signature of RFC 9474, appendix A, is valid, and one without a salt is not")
    func saltLength() throws {
        let key = BlindRSAPublicKey(
            try RSAPublicKey(modulus: Self.hex(BlindRSAVectors.modulus), exponent: [1, 0, 1]))
        let message = Self.hex(BlindRSAVectors.message)
        #expect(key.isValidSignature(Self.hex(BlindRSAVectors.signature)[...], message: message[...]))
        #expect(!key.isValidSignature(Self.hex(BlindRSAVectors.signatureWithoutSalt)[...], message: message[...]))
        #expect(!key.isValidSignature(Self.hex(BlindRSAVectors.signature)[...], message: message.dropLast()))
    }

    @Test("A salt of any other length makes an invalid signature", arguments: [0, 1, 20, 32, 47, 49, 64])
    func otherSalt(_ count: Int) throws {
        let message = Array("a message".utf8)
        let blinded = try BlindedMessage(
            message, for: key.publicKey, salt: [UInt8](repeating: 7, count: count), blind: [3])
        let signature = try blinded.uncheckedSignature(from: key.sign(blinded: blinded.bytes))
        #expect(!key.publicKey.isValidSignature(signature[...], message: message[...]))
        #expect(throws: CryptoError(.authenticationFailed, "")) {
            try blinded.signature(from: key.sign(blinded: blinded.bytes))
        }
    }

    @Test("A key is read in one form only: no byte of its frame may change")
    func otherForms() throws {
        let der = Self.hex(BlindRSAVectors.publicKey)
        // A first byte other than zero makes a longer modulus: another key, with another name.
        let modulus = der.count - 257 - 5..<der.count - 5
        for index in der.indices where !modulus.contains(index) {
            for bit in 0..<8 {
                var changed = der
                changed[index] ^= 1 << bit
                guard let read = try? BlindRSAPublicKey(subjectPublicKeyInfo: changed) else { continue }
                // Another odd exponent is another key, with another name.
                #expect(index >= der.count - 3 && read.subjectPublicKeyInfo == changed && read != key.publicKey)
            }
        }
        for other in [
            [], Array(der.dropLast()), der + [0], Array(der.dropFirst()), [UInt8](repeating: 0x30, count: 2000),
        ] {
            #expect(throws: CryptoError(.invalidKey, "")) { try BlindRSAPublicKey(subjectPublicKeyInfo: other) }
        }
        // The same numbers with the identifier rsaEncryption.
        let plain = try PEM.decode("PUBLIC KEY", in: PublicKey.rsa(key.publicKey.key).pem())
        #expect(throws: CryptoError(.invalidKey, "")) { try BlindRSAPublicKey(subjectPublicKeyInfo: plain) }
    }

    @Test("A key as OpenSSL writes it, with NULL as the parameters of both digests, is the same key")
    func explicitNull() throws {
        let der = Self.hex(BlindRSAVectors.publicKey)
        let digest = Array(Self.hex("300b0609608648016503040202"))
        var other = der
        var count = 0
        while let start = other.indices.last(where: { other[$0...].starts(with: digest) }) {
            other.replaceSubrange(start..<start + digest.count, with: Self.hex("300d06096086480165030402020500"))
            count += 1
        }
        #expect(count == 2)
        // The frames around both digests: the whole, the algorithm, its parameters, [0], [1] and the mask.
        func grow(_ before: String, _ after: String) throws {
            let (old, new) = (Self.hex(before), Self.hex(after))
            let place = try #require(other.indices.first { other[$0...].starts(with: old) })
            other.replaceSubrange(place..<place + old.count, with: new)
        }
        try grow("30820152303d", "308201563041")
        try grow("3030a00d300d", "3034a00f300d")
        try grow("a11a3018", "a11c301a")
        let read = try BlindRSAPublicKey(subjectPublicKeyInfo: other)
        #expect(read == key.publicKey)
        #expect(read.subjectPublicKeyInfo == der)
        #expect(throws: CryptoError(.invalidKey, "")) { try BlindRSAPublicKey(subjectPublicKeyInfo: other + [0]) }
    }

    @Test("Only numbers below the modulus, of its length, are signed")
    func messages() throws {
        let modulus = key.publicKey.key.modulus
        var largest = modulus
        largest[255] -= 1
        #expect(try key.sign(blinded: largest).count == 256)
        var larger = modulus
        larger[255] += 1
        for message in [
            modulus, larger, [UInt8](repeating: 0xFF, count: 256), Array(largest.dropFirst()), [0] + largest, [],
        ] {
            #expect(!key.isValidMessage(message))
            #expect(throws: CryptoError(.invalidArgument, "")) { try key.sign(blinded: message) }
        }
        #expect(throws: CryptoError(.unsupportedKey, "")) { try BlindRSAPrivateKey(.generate(.ec(.p256))) }
    }

    @Test("A signature with one byte changed is invalid, and so is one over another message")
    func everyByte() throws {
        let token = Self.hex(BlindRSAVectors.issuances[0].token)
        for index in token.indices {
            var changed = token
            changed[index] ^= 0x01
            #expect(!key.publicKey.isValidSignature(changed[98...], message: changed[..<98]), "byte \(index)")
        }
    }
}
