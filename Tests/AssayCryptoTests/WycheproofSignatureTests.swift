import AssayCore
import AssayCrypto
import AssayTestSupport
import Testing

// Skipped in a clone that has no shared vectors beside it.
@Suite(.enabled(if: SharedFiles.has(WycheproofVectors.folder), WycheproofVectors.absence))
struct WycheproofSignatureTests {
    struct File: Sendable, CustomTestStringConvertible {
        let name: String
        let count: Int
        let digest: DigestAlgorithm
        var testDescription: String { name }
    }

    @Test(
        "ECDSA: each valid signature verifies, each invalid one does not",
        arguments: [
            File(name: "ecdsa_secp256r1_sha256_test.json", count: 484, digest: .sha256),
            File(name: "ecdsa_secp384r1_sha384_test.json", count: 504, digest: .sha384),
            File(name: "ecdsa_secp256r1_sha256_p1363_test.json", count: 262, digest: .sha256),
        ])
    func ecdsa(_ file: File) throws {
        var executed = 0
        for group in try WycheproofVectors.load(file.name).testGroups {
            let key = try #require(group.publicKey)
            let curve: EllipticCurve = key.curve == "secp384r1" ? .p384 : .p256
            let publicKey = try ECPublicKey(curve: curve, x963: fromHex(key.uncompressed))
            let pem = try #require(group.publicKeyPem)
            #expect(try PublicKey(pem: pem.utf8) == .ec(publicKey))
            for test in group.tests {
                let signature = try fromHex(test.sig)
                let message = try fromHex(test.msg)
                let isValid =
                    file.name.contains("p1363")
                    ? publicKey.isValidSignature(raw: signature[...], digest: file.digest, message: message[...])
                    : publicKey.isValidSignature(der: signature[...], digest: file.digest, message: message[...])
                #expect(["valid", "invalid"].contains(test.result), test.name)
                #expect(isValid == (test.result == "valid"), test.name)
                executed += 1
            }
        }
        #expect(executed >= file.count)
    }

    // The one acceptable case of each file lacks the NULL in the DigestInfo; we refuse it, as RFC 8017 writes one.
    @Test(
        "RSA: each valid signature verifies, no invalid or merely acceptable one does",
        arguments: [
            File(name: "rsa_signature_2048_sha256_test.json", count: 259, digest: .sha256),
            File(name: "rsa_signature_3072_sha256_test.json", count: 259, digest: .sha256),
        ])
    func rsa(_ file: File) throws {
        var executed = 0
        for group in try WycheproofVectors.load(file.name).testGroups {
            let key = try #require(group.publicKey)
            let publicKey = try RSAPublicKey(modulus: fromHex(key.modulus), exponent: fromHex(key.publicExponent))
            #expect(publicKey.bitCount == group.keySize)
            let pem = try #require(group.publicKeyPem)
            #expect(try PublicKey(pem: pem.utf8) == .rsa(publicKey))
            for test in group.tests {
                let signature = try fromHex(test.sig)
                let isValid = try publicKey.isValidSignature(
                    signature[...], digest: file.digest, message: fromHex(test.msg)[...])
                #expect(isValid == (test.result == "valid"), test.name)
                executed += 1
            }
        }
        #expect(executed >= file.count)
    }
}
