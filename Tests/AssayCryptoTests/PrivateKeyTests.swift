import AssayCrypto
import Testing

@Suite struct PrivateKeyTests {
    @Test(
        "A generated key of each kind signs, and comes back the same from its PEM",
        arguments: [.rsa(bits: 2048), .rsa(bits: 3072), .rsa(bits: 4096), .ec(.p256), .ec(.p384)] as [KeyKind])
    func roundTrip(_ kind: KeyKind) throws {
        let key = try PrivateKey.generate(kind)
        #expect(key.kind == kind)
        let pem = try key.pem()
        let text = pem.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        #expect(text.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(text.hasSuffix("-----END PRIVATE KEY-----\n"))
        let again = try PrivateKey(pem: pem)
        #expect(again.kind == kind)
        #expect(again.publicKey == key.publicKey)
        #expect(try PublicKey(pem: key.publicKey.pem()) == key.publicKey)
        let message: [UInt8] = [1, 2, 3]
        let signature = try again.sign(message)
        switch key.publicKey {
        case .rsa(let key):
            #expect(key.isValidSignature(signature[...], digest: .sha256, message: message[...]))
        case .ec(let key):
            #expect(key.isValidSignature(der: signature[...], digest: again.digest, message: message[...]))
        }
    }

    @Test("RSA keys of other sizes are not generated", arguments: [-1, 0, 1024, 2047, 2049, 8192, Int.max])
    func sizes(_ bits: Int) {
        #expect(throws: CryptoError(.unsupportedKey, "")) { try PrivateKey.generate(.rsa(bits: bits)) }
    }

    @Test(
        "The older PEM forms are read too",
        arguments: [
            (TestPEM.rsaTraditional, TestPEM.rsaPublic, .rsa(bits: 2048)),
            (TestPEM.p256Traditional, TestPEM.p256Public, .ec(.p256)),
            (TestPEM.p256Traditional, TestPEM.p256PublicCompressed, .ec(.p256)),
        ] as [(String, String, KeyKind)])
    func traditional(_ pem: String, _ publicPEM: String, _ kind: KeyKind) throws {
        let key = try PrivateKey(pem: Array(pem.utf8))
        #expect(key.kind == kind)
        #expect(try key.publicKey == PublicKey(pem: publicPEM.utf8))
    }

    @Test(
        "Weak, encrypted and foreign keys are unsupported",
        arguments: [
            TestPEM.rsa1024, TestPEM.ed25519, TestPEM.secp256k1, TestPEM.encrypted, TestPEM.encryptedTraditional,
        ])
    func unsupported(_ pem: String) {
        #expect(throws: CryptoError(.unsupportedKey, "")) { try PrivateKey(pem: Array(pem.utf8)) }
    }

    @Test(
        "What is no private key, or not one whole, is invalid",
        arguments: [
            "", "hello", TestPEM.p256Public, TestPEM.p256Mismatched, String(TestPEM.rsaTraditional.dropLast(80)),
            TestPEM.p256Traditional.replacing("MHcC", with: "MHcD"), "-----BEGIN PRIVATE KEY-----\n",
        ])
    func invalid(_ pem: String) {
        #expect(throws: CryptoError(.invalidKey, "")) { try PrivateKey(pem: Array(pem.utf8)) }
    }

    @Test("A text of more than 16 KiB is not looked at")
    func tooLong() {
        let text = Array((TestPEM.p256Traditional + String(repeating: "\n", count: 16_384)).utf8)
        #expect(throws: CryptoError(.invalidArgument, "")) { try PrivateKey(pem: text) }
        #expect(throws: CryptoError(.invalidArgument, "")) { try PublicKey(pem: text) }
    }

    @Test(
        "Only the PEM of a public key makes a public key",
        arguments: [
            ("", .invalidKey), (TestPEM.p256Traditional, .invalidKey), (TestPEM.rsa5120Public, .unsupportedKey),
            ("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", .invalidKey),
        ] as [(String, CryptoError.Code)])
    func publicPEM(_ pem: String, _ code: CryptoError.Code) {
        #expect(throws: CryptoError(code, "")) { try PublicKey(pem: pem.utf8) }
    }

    @Test("A key shows its kind and nothing else")
    func redaction() throws {
        let key = try PrivateKey(pem: Array(TestPEM.p256Traditional.utf8))
        var dumped = ""
        dump(key, to: &dumped)
        #expect("\(key)" == "<P-256 private key>")
        #expect(dumped.contains("<P-256 private key>"))
        #expect(!dumped.contains("handle"))
    }

    @Test("An error says what OpenSSL said, and a failure leaves nothing behind for the next")
    func errorQueue() throws {
        let error = #expect(throws: CryptoError.self) { try PublicKey(pem: "-----BEGIN PUBLIC KEY-----\n!".utf8) }
        #expect(error?.reasons.isEmpty == false)
        #expect(error.map { "\($0)".hasPrefix("invalid_key: ") } == true)
        let again = #expect(throws: CryptoError.self) { try PublicKey(pem: "-----BEGIN PUBLIC KEY-----\n!".utf8) }
        #expect(again?.reasons == error?.reasons)
    }
}
