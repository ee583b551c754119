import AssayCore
import AssayCrypto
import Testing

@Suite("AES key wrap and what is encrypted with it")
struct AES256KeyWrapTests {
    private static let wrapping = SecretBytes(
        Hex.decode("000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F") ?? [])

    /// RFC 3394, sections 4.3, 4.5 and 4.6.
    private static let vectors = [
        ("00112233445566778899AABBCCDDEEFF", "64E8C3F9CE0F5BA263E9777905818A2A93C8191E7D6E8AE7"),
        (
            "00112233445566778899AABBCCDDEEFF0001020304050607",
            "A8F9BC1612C68B3FF6E6F4FBE30E71E4769C8B80A32CB8958CD5D17D6B254DA1"
        ),
        (
            "00112233445566778899AABBCCDDEEFF000102030405060708090A0B0C0D0E0F",
            "28C9F404C4B810F4CBCCB35CFB87F8263F5786E2D80ED326CBC7F0E71A99F43BFB988B9B7A02DD21"
        ),
    ]

    @Test("Keys are wrapped and unwrapped as in RFC 3394", arguments: vectors)
    func wraps(_ key: String, _ wrapped: String) throws {
        let (key, wrapped) = (try #require(Hex.decode(key)), try #require(Hex.decode(wrapped)))
        #expect(try AES256KeyWrap.wrap(SecretBytes(key), with: Self.wrapping) == wrapped)
        #expect(try AES256KeyWrap.unwrap(wrapped[...], with: Self.wrapping) == SecretBytes(key))
        for index in wrapped.indices {
            var changed = wrapped
            changed[index] ^= 1
            #expect(throws: CryptoError(.authenticationFailed, "")) {
                try AES256KeyWrap.unwrap(changed[...], with: Self.wrapping)
            }
        }
    }

    @Test("Other lengths are refused before any work", arguments: [0, 1, 8, 15, 23, 25, 33, 80, 1000])
    func lengths(_ count: Int) {
        #expect(throws: CryptoError(.invalidArgument, "")) {
            try AES256KeyWrap.unwrap([UInt8](repeating: 1, count: count)[...], with: Self.wrapping)
        }
        #expect(throws: CryptoError(.invalidArgument, "")) {
            try AES256KeyWrap.wrap(SecretBytes([UInt8](repeating: 1, count: count)), with: Self.wrapping)
        }
        #expect(throws: CryptoError(.invalidArgument, "")) {
            try AES256KeyWrap.wrap(Self.wrapping, with: SecretBytes([UInt8](repeating: 1, count: count)))
        }
    }

    /// NIST's GCM examples (Test Case 15 of McGrew and Viega): a key, a nonce, a text and what it becomes.
    @Test("AES-256-GCM gives what NIST's example says")
    func gcm() throws {
        let key = SecretBytes(
            try #require(Hex.decode("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")))
        let nonce = try #require(Hex.decode("cafebabefacedbaddecaf888"))
        let text = try #require(
            Hex.decode(
                "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
                    + "b16aedf5aa0de657ba637b391aafd255"))
        let box = try #require(
            Hex.decode(
                "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
                    + "c5f61e6393ba7a0abcc9f662898015adb094dac5d93471bdec1a502270e3cc6c"))
        #expect(try AES256GCM.seal(text[...], key: key, nonce: nonce[...], authenticating: []) == box)
        #expect(try AES256GCM.open(box[...], key: key, nonce: nonce[...], authenticating: []) == text)
    }

    @Test("A message opens with its key alone, and with no byte changed")
    func message() throws {
        let plaintext = Array("what is to be known".utf8)
        let message = try KeyWrappedJWE.encrypt(plaintext, with: Self.wrapping)
        #expect(try KeyWrappedJWE.parse(utf8: message[...]).decrypt(with: Self.wrapping) == plaintext)
        let other = SecretBytes([UInt8](repeating: 9, count: 32))
        #expect(throws: JWEError.notAuthentic) { try KeyWrappedJWE.parse(utf8: message[...]).decrypt(with: other) }
        #expect(throws: JWEError.notForKey) {
            try KeyWrappedJWE.parse(utf8: message[...]).decrypt(with: SecretBytes([1, 2, 3]))
        }
        for index in message.indices {
            for change in [1, 2, 0x20, 0x80] as [UInt8] {
                var changed = message
                changed[index] ^= change
                #expect(throws: JWEError.self) {
                    try KeyWrappedJWE.parse(utf8: changed[...]).decrypt(with: Self.wrapping)
                }
            }
        }
        for count in message.indices {
            #expect(throws: JWEError.self) {
                try KeyWrappedJWE.parse(utf8: message[..<count]).decrypt(with: Self.wrapping)
            }
        }
    }

    @Test(
        "Other algorithms, compression, extensions and lengths are refused before any work",
        arguments: [
            (#"{"alg":"A256KW","enc":"A256GCM"}"#, 40, JWEError.notAuthentic),
            (#"{"alg":"A128KW","enc":"A256GCM"}"#, 40, .unsupported),
            (#"{"alg":"dir","enc":"A256GCM"}"#, 40, .unsupported),
            (#"{"alg":"A256KW","enc":"A256CBC-HS512"}"#, 40, .unsupported),
            (#"{"alg":"a256kw","enc":"A256GCM"}"#, 40, .unsupported),
            (#"{"alg":"A256KW","enc":"A256GCM","zip":"DEF"}"#, 40, .unsupported),
            (#"{"alg":"A256KW","enc":"A256GCM","crit":["x"]}"#, 40, .malformed(.critical)),
            (#"{"alg":"A256KW","alg":"dir","enc":"A256GCM"}"#, 40, .malformed(.header)),
            (#"{"alg":1,"enc":"A256GCM"}"#, 40, .malformed(.header)),
            (#"[]"#, 40, .malformed(.header)), ("", 40, .malformed(.header)),
            (#"{"alg":"A256KW","enc":"A256GCM"}"#, 0, .malformed(.lengths)),
            (#"{"alg":"A256KW","enc":"A256GCM"}"#, 48, .malformed(.lengths)),
        ])
    func headers(_ header: String, _ keyCount: Int, _ expected: JWEError) {
        let parts =
            [Array(header.utf8), [UInt8](repeating: 1, count: keyCount)]
            + [12, 3, 16].map { [UInt8](repeating: 1, count: $0) }
        let message = Array(parts.map { Base64.encodeURL($0) }.joined(separator: ".").utf8)
        #expect(throws: expected) { try KeyWrappedJWE.parse(utf8: message[...]).decrypt(with: Self.wrapping) }
    }

    @Test("A message of more than 64 KiB is not looked at")
    func large() {
        let large = [UInt8](repeating: UInt8(ascii: "A"), count: KeyWrappedJWE.maximumByteCount + 1)
        #expect(throws: JWEError.malformed(.tooLarge)) { try KeyWrappedJWE.parse(utf8: large[...]) }
    }
}
