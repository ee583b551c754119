import AssayCore
import AssayCrypto
import AssayTestSupport
import Testing

// Skipped in a clone that has no shared vectors beside it.
@Suite(.enabled(if: SharedFiles.has(WycheproofVectors.folder), WycheproofVectors.absence))
struct WycheproofSecretTests {
    @Test("AES-GCM: each valid box opens and seals the same, no invalid one opens, other sizes are refused as such")
    func aesGCM() throws {
        var opened = 0
        var refused = 0
        var otherSizes = 0
        for group in try WycheproofVectors.load("aes_gcm_test.json").testGroups {
            let isOurs = group.keySize == 256 && group.ivSize == 96
            #expect(group.tagSize == 128)
            for test in group.tests {
                let key = SecretBytes(try fromHex(test.key))
                let nonce = try fromHex(test.iv)
                let associatedData = try fromHex(test.aad)
                let box = try fromHex(test.ct) + fromHex(test.tag)
                let plaintext = try fromHex(test.msg)
                let result = Result { () throws(CryptoError) in
                    try AES256GCM.open(box[...], key: key, nonce: nonce[...], authenticating: associatedData[...])
                }
                switch (isOurs, test.result) {
                case (true, "valid"):
                    #expect(try result.get() == plaintext, test.name)
                    let sealed = try AES256GCM.seal(
                        plaintext[...], key: key, nonce: nonce[...], authenticating: associatedData[...])
                    #expect(sealed == box, test.name)
                    opened += 1
                case (true, _):
                    #expect(throws: CryptoError(.authenticationFailed, ""), test.name) { try result.get() }
                    refused += 1
                default:
                    #expect(throws: CryptoError(.invalidArgument, ""), test.name) { try result.get() }
                    otherSizes += 1
                }
            }
        }
        #expect(opened > 0 && refused > 0 && otherSizes > 0)
        #expect(opened + refused + otherSizes >= 316)
        #expect(opened + refused >= 66, "the group of 256-bit keys and 96-bit nonces")
    }

    // A shortened tag is never accepted as a code here; that its bytes begin the full code is checked instead.
    @Test("HMAC-SHA256: full codes as the vectors say; shortened ones begin the code and are not accepted")
    func hmac() throws {
        var full = 0
        var shortened = 0
        for group in try WycheproofVectors.load("hmac_sha256_test.json").testGroups {
            for test in group.tests {
                let authenticator = HMACSHA256(key: try fromHex(test.key))
                let message = try fromHex(test.msg)
                let tag = try fromHex(test.tag)
                if group.tagSize == 256 {
                    #expect(authenticator.isValid(tag, for: message[...]) == (test.result == "valid"), test.name)
                    full += 1
                } else {
                    let code = authenticator.authenticate(message[...])
                    #expect(code.starts(with: tag) == (test.result == "valid"), test.name)
                    #expect(!authenticator.isValid(tag, for: message[...]), test.name)
                    shortened += 1
                }
            }
        }
        #expect(full > 0 && shortened > 0)
        #expect(full + shortened >= 174)
    }
}
