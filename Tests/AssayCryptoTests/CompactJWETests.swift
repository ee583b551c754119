import AssayCore
import Testing

@testable import AssayCrypto

@Suite struct CompactJWETests {
    /// Alice and Bob of RFC 7518, appendix C.
    private static func key(_ scalar: String) throws -> PrivateKey {
        try PrivateKey(p256Scalar: #require(Base64.decodeURL(utf8: Array(scalar.utf8)[...])))
    }

    private static let alice = "0_NxaRPUMQoAJt50Gz8YiTr8gRTwyEaCumd-MToTmIo"
    private static let bob = "VEmDZpDXXK8p8N0Cndsxs924q6nS1RXFASRl6BfUqdw"

    private static func point(_ key: PrivateKey) throws -> ECPublicKey {
        guard case .ec(let point) = key.publicKey else { throw CryptoError(.invalidKey, "not on a curve") }
        return point
    }

    private static func parse(_ text: String) throws(JWEError) -> CompactJWE {
        try CompactJWE.parse(utf8: Array(text.utf8)[...])
    }

    @Test("The key agreement is that of RFC 7518, appendix C, in both directions")
    func agreement() throws {
        let (alice, bob) = (try Self.key(Self.alice), try Self.key(Self.bob))
        let expected: [UInt8] = [
            158, 86, 217, 29, 129, 113, 53, 211, 114, 131, 66, 131, 191, 132, 38, 156, 251, 49, 110, 163, 218, 128, 106,
            72,
            246, 218, 167, 121, 140, 254, 144, 196,
        ]
        for (mine, theirs) in [(alice, bob), (bob, alice)] {
            let secret = try mine.sharedSecret(with: Self.point(theirs))
            #expect(secret == SecretBytes(expected))
            let key = ConcatKDF.derive(
                from: secret, algorithm: "A128GCM", sender: Array("Alice".utf8), recipient: Array("Bob".utf8), count: 16
            )
            #expect(key.withUnsafeBytes { Base64.encodeURL(Array($0)) } == "VqqN6vgjbSBcIijNcacQGg")
        }
    }

    @Test("Keys of other kinds or curves have no secret in common")
    func otherKinds() throws {
        let point = try Self.point(Self.key(Self.bob))
        for key in [try PrivateKey.generate(.ec(.p384)), try PrivateKey(pem: Array(TestPEM.rsaTraditional.utf8))] {
            #expect(throws: CryptoError(.invalidArgument, "")) { try key.sharedSecret(with: point) }
            #expect(throws: CryptoError(.unsupportedKey, "")) { try JWERecipient(key.publicKey) }
        }
    }

    @Test(
        "A message of another library is read, with and without the names of the parties",
        arguments: [
            "eyJhbGciOiJFQ0RILUVTIiwiY3R5IjoianNvbiIsImVuYyI6IkEyNTZHQ00iLCJlcGsiOnsiY3J2IjoiUC0yNTYiLCJrdHkiOiJFQyIsIngiOi"
                + "JxbXctQXZMNWJGeTllaUZKZFUxcnEzZ1NJakprTm0xQkt3XzlNUndoSkFjIiwieSI6IjA1VzlPYzQ5Y2ZVZzUyNU4xOHFKVE1aY3RtTl"
                + "Z4OVRzQXBIX3kyQWdvZEkifSwia2lkIjoiVnk1N1hyQXJVclcwTmJwSTEydEV6REhBQnhNd3JUaDZISFhSZW5TcG5DbyJ9..Qa_HuVlR"
                + "Gx_7umwQ.5OvSSl1KL4xD3-Geac9-Oucqj-QZuaXYx7A.anvz8BsEGM5UAxwgj6dkSg",
            "eyJhbGciOiJFQ0RILUVTIiwiYXB1IjoiUVd4cFkyVSIsImFwdiI6IlFtOWkiLCJlbmMiOiJBMjU2R0NNIiwiZXBrIjp7ImNydiI6IlAtMjU2Ii"
                + "wia3R5IjoiRUMiLCJ4IjoiTUJLQnRsYXZKclo1bGY2RUNWMGktMmhNQm0yaUhNQm9PeXhqZXV0RG1tSSIsInkiOiJPYS1VNm5mVlBuTk"
                + "dablU4N0Z2MTdISmtKZDJrNnhQeFh2aXZBVjAySHlnIn19..00waGWKbc8ZzHODo.flwjR44U35DVbVGShlDuW21pqiQ_Qr3exfA.TWJ"
                + "BbF5JninDlRk8X3TJgw",
        ])
    func published(_ text: String) throws {
        let message = try Self.parse(text)
        let plaintext = try message.decrypt(with: Self.key(Self.bob))
        #expect(String(decoding: plaintext, as: UTF8.self) == #"{"from":"another library"}"#)
        #expect(throws: JWEError.notAuthentic) { try message.decrypt(with: Self.key(Self.alice)) }
        #expect(throws: JWEError.notForKey) { try message.decrypt(with: .generate(.ec(.p384))) }
    }

    @Test("What is encrypted for a key is read with it, whatever its length", arguments: [0, 1, 15, 16, 17, 70_000])
    func roundTrip(_ count: Int) throws {
        let key = try PrivateKey.generate(.ec(.p256))
        let recipient = try JWERecipient(key.publicKey)
        let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let text = try CompactJWE.encrypt(plaintext, to: recipient, contentType: "json")
        let message = try CompactJWE.parse(utf8: text[...])
        #expect(message.header.keyID == recipient.keyID && message.header.contentType == "json")
        #expect(recipient.keyID == JWK(key.publicKey).thumbprint)
        #expect(try message.decrypt(with: key) == plaintext)
    }

    @Test("No two messages have an ephemeral key, a nonce or a ciphertext in common")
    func freshness() throws {
        let recipient = try JWERecipient(PrivateKey.generate(.ec(.p256)).publicKey)
        let messages = try (0..<20).map { _ in try CompactJWE.encrypt([1, 2, 3], to: recipient) }
        let parts = messages.map { $0.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) }
        for place in [0, 2, 3, 4] { #expect(Set(parts.map { $0[place] }).count == messages.count) }
        let keys = try messages.map { try CompactJWE.parse(utf8: $0[...]).header.ephemeralKey }
        #expect(Set(keys).count == messages.count)
    }

    @Test("A change of any character of any part is refused")
    func tampering() throws {
        let key = try PrivateKey.generate(.ec(.p256))
        let text = try CompactJWE.encrypt(Array("evidence".utf8), to: JWERecipient(key.publicKey))
        var refused = 0
        for index in text.indices where text[index] != UInt8(ascii: ".") {
            var changed = text
            changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(throws: JWEError.self) { try CompactJWE.parse(utf8: changed[...]).decrypt(with: key) }
            refused += 1
        }
        #expect(refused == text.count - 4)
    }

    @Test("A shortened or lengthened message is refused")
    func lengths() throws {
        let key = try PrivateKey.generate(.ec(.p256))
        let text = try CompactJWE.encrypt(Array("evidence".utf8), to: JWERecipient(key.publicKey))
        for count in text.indices {
            #expect(throws: JWEError.self) { try CompactJWE.parse(utf8: text[..<count]).decrypt(with: key) }
        }
        for end in ["A", ".", ".A", "="] {
            #expect(throws: JWEError.self) {
                try CompactJWE.parse(utf8: (text + Array(end.utf8))[...]).decrypt(with: key)
            }
        }
    }

    /// A message of a header and parts of the right lengths.
    private static func message(_ header: String, encryptedKey: String = "") -> String {
        let parts = [
            Base64.encodeURL(Array(header.utf8)), encryptedKey, Base64.encodeURL([UInt8](repeating: 1, count: 12)),
            "AAAA",
            Base64.encodeURL([UInt8](repeating: 1, count: 16)),
        ]
        return parts.joined(separator: ".")
    }

    private static let epk =
        #""epk":{"kty":"EC","crv":"P-256","x":"gI0GAILBdu7T53akrFmMyGcsF3n5dO7MmwNBHKW5SV0","#
        + #""y":"SLW_xSffzlPWrHEVI30DHM_4egVwt3NQqeUD7nMFpps"}"#

    @Test(
        "Other algorithms, compression and extensions are refused, and headers that are not of the form",
        arguments: [
            (#"{"alg":"ECDH-ES","enc":"A256GCM",EPK}"#, JWEError.notAuthentic),
            (#"{"alg":"ECDH-ES","enc":"A128GCM",EPK}"#, .unsupported),
            (#"{"alg":"ECDH-ES+A256KW","enc":"A256GCM",EPK}"#, .unsupported),
            (#"{"alg":"dir","enc":"A256GCM",EPK}"#, .unsupported),
            (#"{"alg":"ECDH-ES","enc":"A256GCM","zip":"DEF",EPK}"#, .unsupported),
            (#"{"alg":"ECDH-ES","enc":"A256GCM","crit":["x"],EPK}"#, .malformed(.critical)),
            (#"{"alg":"ECDH-ES","alg":"dir","enc":"A256GCM",EPK}"#, .malformed(.header)),
            (#"{"alg":1,"enc":"A256GCM",EPK}"#, .malformed(.header)),
            (#"{"alg":"ECDH-ES","enc":"A256GCM","apu":"=",EPK}"#, .malformed(.header)),
            (#"{"alg":"ECDH-ES","enc":"A256GCM","kid":1,EPK}"#, .malformed(.header)),
            (#"{"alg":"ECDH-ES","enc":"A256GCM"}"#, .malformed(.ephemeralKey)),
            (#"{"alg":"ECDH-ES","enc":"A256GCM","epk":"x"}"#, .malformed(.ephemeralKey)),
            (
                #"{"alg":"ECDH-ES","enc":"A256GCM","epk":{"kty":"EC","crv":"P-256","#
                    + #""x":"gI0GAILBdu7T53akrFmMyGcsF3n5dO7MmwNBHKW5SV0","#
                    + #""y":"gI0GAILBdu7T53akrFmMyGcsF3n5dO7MmwNBHKW5SV0"}}"#, .malformed(.ephemeralKey)
            ),
            (#"[]"#, .malformed(.header)), ("", .malformed(.header)),
        ])
    func headers(_ header: String, _ expected: JWEError) throws {
        let text = Self.message(header.replacing("EPK", with: Self.epk))
        #expect(throws: expected) { try Self.parse(text).decrypt(with: Self.key(Self.bob)) }
    }

    @Test("An encrypted key, another number of parts and oversized messages are refused before any work")
    func forms() throws {
        let header = #"{"alg":"ECDH-ES","enc":"A256GCM",EPK}"#.replacing("EPK", with: Self.epk)
        #expect(throws: JWEError.malformed(.encryptedKey)) {
            try Self.parse(Self.message(header, encryptedKey: "AAAA"))
        }
        #expect(throws: JWEError.malformed(.parts)) { try Self.parse("a.b.c") }
        #expect(throws: JWEError.malformed(.parts)) { try Self.parse("....." + Self.message(header)) }
        #expect(throws: JWEError.malformed(.encoding)) { try Self.parse("+.+.+.+.+") }
        let large = [UInt8](repeating: UInt8(ascii: "A"), count: CompactJWE.maximumByteCount + 1)
        #expect(throws: JWEError.malformed(.tooLarge)) { try CompactJWE.parse(utf8: large[...]) }
    }

    @Test("The largest plaintext becomes a message that can be read, and a larger one none")
    func largest() throws {
        let key = try PrivateKey.generate(.ec(.p256))
        let recipient = try JWERecipient(key.publicKey)
        let plaintext = [UInt8](repeating: 7, count: CompactJWE.maximumPlaintextByteCount)
        let text = try CompactJWE.encrypt(plaintext, to: recipient)
        #expect(try CompactJWE.parse(utf8: text[...]).decrypt(with: key) == plaintext)
        #expect(throws: CryptoError(.invalidArgument, "")) { try CompactJWE.encrypt(plaintext + [1], to: recipient) }
    }
}
