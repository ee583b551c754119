import AssayCore
import AssayKit
import AssayTestSupport
import Foundation
import FuzzEntries
import Testing

@testable import AssayVerifier

/// The short way of reading claims may only save time: what it accepts, the parser of JSON accepts, with the same
/// outcome.
@Suite("Claims of the plain spelling")
struct PlainClaimsTests {
    private static let plain = #"""
        {"sub":"1:1234567890:ios:321abc456def7890","aud":["projects/1234567890","projects/example-project"],\#
        "provider":"app_attest","iss":"https://firebaseappcheck.googleapis.com/1234567890","exp":1795266000,\#
        "iat":1795262400,"jti":"qkT0Z4Wq0bNnUTX4IqDg2H1fUj3JH8pW0o2nYx5M1cA"}
        """#

    private static func read(_ text: String) -> VerifiedToken? {
        read(Array(text.utf8))
    }

    private static func read(_ bytes: [UInt8]) -> VerifiedToken? {
        PlainClaims.read(bytes.span)
    }

    private static func parse(_ text: String) -> VerifiedToken? {
        VerifiedToken(parsing: Array(text.utf8))
    }

    /// Holds the two readers together; returns whether the short way was taken.
    private static func agree(_ bytes: [UInt8]) -> Bool {
        let parsed = VerifiedToken(parsing: bytes)
        #expect(VerifiedToken(payload: bytes.span) == parsed)
        guard let plain = read(bytes) else { return false }
        #expect(plain == parsed)
        return true
    }

    @Test("What an issuer writes is plain, and every claim is found")
    func issued() throws {
        let token = try #require(Self.read(Self.plain))
        #expect(token == Self.parse(Self.plain))
        #expect(token.subject == "1:1234567890:ios:321abc456def7890")
        #expect(token.audience == ["projects/1234567890", "projects/example-project"])
        #expect(token.provider == "app_attest")
        #expect(token.issuer == "https://firebaseappcheck.googleapis.com/1234567890")
        #expect(token.expires == Instant(seconds: 1_795_266_000) && token.issued == Instant(seconds: 1_795_262_400))
        #expect(token.id == "qkT0Z4Wq0bNnUTX4IqDg2H1fUj3JH8pW0o2nYx5M1cA")
    }

    @Test("Claims are plain in any order, and without a provider")
    func order() throws {
        let claims = #"{"jti":"i","iat":1,"exp":2,"iss":"s","aud":["a"],"sub":"u"}"#
        #expect(Self.read(claims) == Self.parse(claims))
        #expect(try #require(Self.read(claims)).provider == nil)
    }

    @Test("Who chose the identifier is found in both ways, and counts")
    func idChooser() throws {
        let claims = #"{"jti":"i","jti_by":"c","iat":1,"exp":2,"iss":"s","aud":["a"],"sub":"u"}"#
        let token = try #require(Self.read(claims))
        #expect(token == Self.parse(claims))
        #expect(token.idChooser == "c")
        #expect(token != Self.read(claims.replacing(#""jti_by":"c","#, with: "")))
    }

    @Test("A token of a provider for development is found in both ways, and no other is one")
    func development() throws {
        let claims = #"{"jti":"i","development":true,"iat":1,"exp":2,"iss":"s","aud":["a"],"sub":"u"}"#
        let token = try #require(Self.read(claims))
        #expect(token == Self.parse(claims))
        #expect(token.isForDevelopment)
        let denied = claims.replacing("true", with: "false")
        #expect(Self.read(denied) == nil)
        for other in [Self.read(claims.replacing(#""development":true,"#, with: "")), Self.parse(denied)] {
            #expect(try #require(other).isForDevelopment == false)
        }
        for text in [
            claims.replacing("true", with: "null"), claims.replacing("true", with: #"true,"development":true"#),
        ] {
            #expect(VerifiedToken(payload: Array(text.utf8).span) == nil)
        }
    }

    /// With every claim that a token of ours may have.
    private static let dearest = plain.replacing(
        "}",
        with: #","jti_by":"c","state":"m1","development":true,"cnf":{"jwk":{"kty":"EC","crv":"P-256","#
            + #""x":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8","y":"Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA"},"#
            + #""rp_id_hash":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"},"assay_mark":"new-key"}"#)

    @Test("The state, the device's key and the mark of a rule are found in both ways, and count")
    func dearest() throws {
        let token = try #require(Self.read(Self.dearest))
        #expect(token == Self.parse(Self.dearest))
        #expect(token.state == "m1")
        #expect(token.confirmation?.publicKey == [0x04] + Array(0..<32) + Array((0..<32).reversed()))
        #expect(token.confirmation?.relyingPartyHash == Array(0..<32))
        let written = try #require(token.confirmation).claim.encoded
        #expect(Self.dearest.utf8.firstRange(of: written) != nil, "it is read as it is written")
    }

    @Test(
        "A key of another form, and a claim that is there twice, are left to the parser of JSON",
        arguments: [
            (#"kty":"EC"#, #"kty":"OKP"#), (#"P-256","x""#, #"P-384","x""#), ("AAEC", "AAE"), ("AAEC", "AA+C"),
            (#""jwk":{"#, #""jwk":{"use":"sig","#),
            (#"},"assay_mark""#, #","x":1},"assay_mark""#),
            (#""state":"m1""#, #""state":5"#), (#""state":"m1""#, #""state":"m1","state":"m1""#),
            (#""assay_mark":"new-key""#, #""assay_mark":true"#),
            (#""assay_mark":"new-key""#, #""assay_mark":"a","assay_mark":"b""#),
            (#""cnf":"#, #""cnf":5,"cnf":"#),
        ])
    func otherKeys(_ part: String, _ other: String) {
        let text = Self.dearest.replacing(part, with: other)
        #expect(text != Self.dearest)
        #expect(!Self.agree(Array(text.utf8)))
    }

    @Test(
        "What is spelled in another way is not plain, and just as good",
        arguments: [
            (#"{"sub""#, #"{ "sub""#), (#""iat":"#, #""iat": "#), (#""app_attest""#, #""app\u005fattest""#),
            (#""app_attest""#, "\"\u{E4}\""), (#""sub":"#, #""s\u0075b":"#),
            (#""provider":"app_attest""#, #""p":[{}]"#), (#""provider":"app_attest""#, #""jti_by":5"#),
            (#""provider":"app_attest""#, #""provider":null"#), (#""provider":"app_attest""#, #""another":true"#),
            (#""exp":1795266000"#, #""exp":1795266000000000000"#), (#""iat":1795262400"#, #""iat":0"#),
            (#""iat":1795262400"#, #""iat":-5"#), (#"["projects/1234567890","#, "[5,"),
            (#"["projects/1234567890","projects/example-project"]"#, "[]"),
            (#"["projects/1234567890","#, #"["1","2","3","4","5","6","7","8","9","#),
        ])
    func spelledOtherwise(_ part: String, _ other: String) {
        let text = Self.plain.replacing(part, with: other)
        #expect(text != Self.plain)
        #expect(Self.read(text) == nil)
        #expect(Self.parse(text) != nil)
        #expect(VerifiedToken(payload: Array(text.utf8).span) == Self.parse(text))
    }

    @Test(
        "What is bad is refused in both ways",
        arguments: [
            (#"{"sub""#, #"{"sub":"x","sub""#), (#""iat""#, #""exp":1,"iat""#),
            (#""provider""#, #""aud":["x"],"provider""#),
            (#""exp":1795266000"#, #""exp":01795266000"#), (#""exp":1795266000"#, #""exp":1795266000.5"#),
            (#""exp":1795266000"#, #""exp":"#), (#""exp":1795266000"#, #""exp":"1795266000""#),
            (#""iss":"h"#, "\"iss\":\"\u{1}h"), (#""sub":"1:1234567890:ios:321abc456def7890""#, #""sub":"""#),
            (#"{"sub""#, "{\"\u{0}sub\":\"x\",\"sub\""), ("}", ""), ("}", ",}"), ("}", "}}"), ("}", "}\u{0}"),
            ("{", ""),
            (#"["projects/1234567890","#, #"[,"#), (#""jti":"#, #""jti":"a","other":"b","other":"#),
        ])
    func bad(_ part: String, _ other: String) {
        let text = Self.plain.replacing(part, with: other)
        #expect(text != Self.plain)
        #expect(Self.read(text) == nil)
        #expect(VerifiedToken(payload: Array(text.utf8).span) == nil)
    }

    @Test("Every byte at every place of a text is plain or is not, as its value says", arguments: 0..<24)
    func everyByte(_ place: Int) throws {
        let text = Array(Self.plain.utf8)
        let start = try #require(Self.plain.utf8.firstRange(of: "qkT0".utf8)).lowerBound
        let offset = Self.plain.utf8.distance(from: Self.plain.startIndex, to: start)
        for byte in UInt8.min...UInt8.max {
            var changed = text
            changed[offset + place] = byte
            let isPlain = (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
            #expect(Self.agree(changed) == isPlain, "\(byte)")
        }
    }

    @Test("Of 20,000 random changes to claims, those that stay plain are read the same in both ways")
    func mutations() {
        var random = Numbers(state: 20_261_121)
        let alphabet = Array("{}[]\",:\\0123456789-+.eE audexpissjtiprovdu\u{0}\u{1F}\u{7F}\u{E4}".utf8)
        let originals = [Self.plain, Self.dearest].map { Array($0.utf8) }
        var plainCount = 0
        for number in 0..<20_000 {
            var bytes = originals[number % 2]
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0: bytes[place] = alphabet.randomElement(using: &random) ?? 0
                case 1: bytes.insert(alphabet.randomElement(using: &random) ?? 0, at: place)
                case 2: bytes.remove(at: place)
                case 3: bytes.removeLast(min(bytes.count - 1, Int.random(in: 1..<40, using: &random)))
                default:
                    let end = min(bytes.count, place + Int.random(in: 1..<60, using: &random))
                    bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0..<bytes.count, using: &random))
                }
            }
            if Self.agree(bytes) { plainCount += 1 }
        }
        #expect((2_000..<18_000).contains(plainCount))
    }

    @Test("The corpora of the fuzzers are read the same in both ways")
    func corpora() throws {
        let corpora = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Fuzz/Corpora")
        let files = try ["json", "claims"].flatMap {
            try FileManager.default.contentsOfDirectory(
                at: corpora.appendingPathComponent($0), includingPropertiesForKeys: nil)
        }
        let plainCount = try files.count { Self.agree([UInt8](try Data(contentsOf: $0))) }
        #expect(plainCount > 0)
    }

    private static let suite = "vectors/json-test-suite/test_parsing"

    @Test(
        "A document of the public test suite for JSON is read the same in both ways, as the claims and as one of them",
        .enabled(if: SharedFiles.has(suite), Comment(rawValue: SharedFiles.absence)),
        arguments: SharedFiles.list(suite, ending: ".json"))
    func testSuite(_ file: String) throws {
        let document = Array(SharedFiles.bytes(file).prefix(8000))
        let (before, after) = (#"{"sub":"u","aud":["a"],"iss":"s","jti":"i","#, #"}"#)
        _ = Self.agree(document)
        for claim in [#""exp":1,"iat":2,"provider":"#, #""exp":1,"iat":"#] {
            let rest = claim.contains("provider") ? after : #","exp":1}"#
            _ = Self.agree(Array((before + claim).utf8) + document + Array(rest.utf8))
        }
    }
}

/// Sebastiano Vigna's SplitMix64: the same numbers in each run, so that a failure can be repeated.
private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
