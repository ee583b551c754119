import AssayCrypto
import AssayTesting
import Testing

@Suite("Public keys by themselves")
struct SubjectPublicKeyInfoTests {
    @Test(
        "A SubjectPublicKeyInfo in DER and in PEM is the same key",
        arguments: [KeyKind.ec(.p256), .ec(.p384), .rsa(bits: 2048)])
    func same(_ kind: KeyKind) throws {
        let key = try PrivateKey.generate(kind).publicKey
        let der = try PEM.decode("PUBLIC KEY", in: key.pem())
        #expect(try PublicKey(spki: der) == key)
    }

    @Test("What was cut off, extended, or has one bit changed is another key or none")
    func changed() throws {
        let key = try PrivateKey.generate(.ec(.p256)).publicKey
        let der = try PEM.decode("PUBLIC KEY", in: key.pem())
        #expect(throws: CertificateError.self) { try PublicKey(spki: der + [0]) }
        for count in der.indices { #expect(throws: CertificateError.self) { try PublicKey(spki: der.prefix(count)) } }
        for index in der.indices {
            var other = der
            other[index] ^= 1
            #expect((try? PublicKey(spki: other)) != key)
        }
        #expect(throws: CertificateError(.tooLarge)) { try PublicKey(spki: [UInt8](repeating: 0, count: 5000)) }
    }

    @Test("A short RSA key, and keys of other kinds, are not supported")
    func unsupported() throws {
        let short = SubjectPublicKey(
            derBytes: DERWriter.sequence(
                DERWriter.sequence(DERWriter.objectIdentifier([1, 2, 840, 113549, 1, 1, 1]), DERWriter.null),
                DERWriter.bitString(
                    DERWriter.sequence(
                        DERWriter.integer(magnitude: [UInt8](repeating: 0xC1, count: 128)), DERWriter.integer(65537)))))
        #expect(throws: CertificateError(.keyUnsupported)) { try PublicKey(spki: short.derBytes) }
        let edwards = DERWriter.sequence(
            DERWriter.sequence(DERWriter.objectIdentifier([1, 3, 101, 112])),
            DERWriter.bitString([UInt8](repeating: 1, count: 32)))
        #expect(throws: CertificateError(.keyUnsupported)) { try PublicKey(spki: edwards) }
    }

    @Test("A text with no block of the label, or with two, has no key")
    func blocks() throws {
        let pem = try PrivateKey.generate(.ec(.p256)).publicKey.pem()
        #expect(throws: CertificateError(.malformed)) { try PEM.decode("CERTIFICATE", in: pem) }
        #expect(throws: CertificateError(.malformed)) { try PEM.decode("PUBLIC KEY", in: pem + pem) }
    }

    @Test("A simulated RSA key is the one that its certificates have, and its signatures are valid")
    func simulated() throws {
        let authority = try SimulatedRSAKey()
        guard case .rsa(let key) = try PublicKey(spki: authority.subjectPublicKey.derBytes) else {
            Issue.record("no RSA key")
            return
        }
        #expect(key.modulus.count == 256)
        #expect(throws: CryptoError.self) { try authority.sign([1], digest: .sha384) }
        let signature = try authority.sign(Array("a message".utf8), digest: .sha256)
        #expect(signature.count == 256)
        let parts = [authority.signatureAlgorithm(.sha256), signature]
        #expect(parts.allSatisfy { !$0.isEmpty })
    }
}
