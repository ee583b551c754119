import AssayCrypto
import Testing

@Suite struct AES256GCMTests {
    let key = SecretBytes((0..<32).map { UInt8($0) })
    let nonce = [UInt8](repeating: 5, count: 12)

    @Test("What is sealed opens again, 16 bytes shorter", arguments: [0, 1, 15, 16, 17, 1000])
    func roundTrip(_ count: Int) throws {
        let plaintext = [UInt8](repeating: 0xAB, count: count)
        let box = try AES256GCM.seal(plaintext[...], key: key, nonce: nonce[...], authenticating: [1, 2])
        #expect(box.count == count + AES256GCM.tagByteCount)
        #expect(try AES256GCM.open(box[...], key: key, nonce: nonce[...], authenticating: [1, 2]) == plaintext)
    }

    @Test("A box with any one bit changed does not open")
    func damaged() throws {
        let box = try AES256GCM.seal([1, 2, 3, 4], key: key, nonce: nonce[...], authenticating: [])
        for bit in 0..<box.count * 8 {
            var damaged = box
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: CryptoError(.authenticationFailed, "")) {
                try AES256GCM.open(damaged[...], key: key, nonce: nonce[...], authenticating: [])
            }
        }
    }

    @Test("Another key, nonce or associated data does not open a box, and neither does a part of it")
    func others() throws {
        let box = try AES256GCM.seal([1, 2, 3, 4], key: key, nonce: nonce[...], authenticating: [1])
        let otherKey = SecretBytes([UInt8](repeating: 0, count: 32))
        let otherNonce = [UInt8](repeating: 6, count: 12)
        let attempts: [(ArraySlice<UInt8>, SecretBytes, [UInt8], ArraySlice<UInt8>)] = [
            (box[...], otherKey, nonce, [1]), (box[...], key, otherNonce, [1]), (box[...], key, nonce, [2]),
            (box[...], key, nonce, []), (box.dropLast(), key, nonce, [1]), (box.dropFirst(), key, nonce, [1]),
            (box + [0], key, nonce, [1]), (box.prefix(15), key, nonce, [1]), ([], key, nonce, [1]),
        ]
        for (box, key, nonce, associatedData) in attempts {
            #expect(throws: CryptoError(.authenticationFailed, "")) {
                try AES256GCM.open(box, key: key, nonce: nonce[...], authenticating: associatedData)
            }
        }
    }

    @Test(
        "Keys and nonces of other lengths are refused in both directions",
        arguments: [(31, 12), (33, 12), (32, 11), (32, 13), (0, 12), (32, 0), (16, 12)])
    func lengths(_ keyCount: Int, _ nonceCount: Int) {
        let key = SecretBytes([UInt8](repeating: 0, count: keyCount))
        let nonce = [UInt8](repeating: 0, count: nonceCount)
        #expect(throws: CryptoError(.invalidArgument, "")) {
            try AES256GCM.seal([1], key: key, nonce: nonce[...], authenticating: [])
        }
        #expect(throws: CryptoError(.invalidArgument, "")) {
            try AES256GCM.open([UInt8](repeating: 0, count: 20)[...], key: key, nonce: nonce[...], authenticating: [])
        }
    }

    @Test("Secrets show nothing of themselves in text")
    func redaction() {
        let secret = SecretBytes("hunter2".utf8)
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped, "\([secret])"] {
            #expect(!text.contains("hunter2") && !text.contains("104"))
        }
        #expect("\(secret)" == "<7 secret bytes>")
        #expect(secret == SecretBytes("hunter2".utf8))
        #expect(secret != SecretBytes("hunter3".utf8))
    }
}
