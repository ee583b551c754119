import AssayCore
import AssayCrypto
import Testing

@Suite struct JWSVerifierTests {
    let rsa: JWSSigner
    let curve: JWSSigner
    let verifier: JWSVerifier
    let rsaKey: PrivateKey

    init() throws {
        rsaKey = try PrivateKey(pem: Array(TestPEM.rsaTraditional.utf8))
        let curveKey = try PrivateKey(pem: Array(TestPEM.p256Traditional.utf8))
        rsa = try JWSSigner(key: rsaKey, keyID: "r-1", algorithm: .rs256)
        curve = try JWSSigner(key: curveKey, keyID: "e \"1\"", algorithm: .es256)
        verifier = JWSVerifier(
            JWKSet([
                JWK(signing: rsaKey.publicKey, keyID: "r-1"), JWK(signing: curveKey.publicKey, keyID: "e \"1\""),
            ]))
    }

    @Test("A signer's header has exactly kid, typ and alg, in this order")
    func header() throws {
        let tokens = try [rsa.sign(payload: [1]), curve.sign(payload: [1])]
        let headers = try tokens.map { token in
            let text = try #require(token.split(separator: ".").first)
            return String(decoding: try #require(Base64.decode(text)), as: UTF8.self)
        }
        #expect(headers[0] == #"{"kid":"r-1","typ":"JWT","alg":"RS256"}"#)
        #expect(headers[1] == #"{"kid":"e \"1\"","typ":"JWT","alg":"ES256"}"#)
    }

    @Test("What is signed is verified, with any payload", arguments: [0, 1, 2, 3, 300, 8000])
    func roundTrip(_ count: Int) throws {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
        for signer in [rsa, curve] {
            let text = try signer.sign(payload: payload)
            let token = try verifier.verify(utf8: Array(text.utf8)[...])
            #expect(token.payload == payload)
            #expect(token.header.keyID == signer.keyID)
            #expect(token.header.algorithm == signer.algorithm)
            #expect(token.header.type == "JWT")
            let slice = (Array("xx".utf8) + Array(text.utf8))[2...]
            #expect(try verifier.verify(utf8: slice).payload == payload)
            let lent = try lent(text.utf8.span).get()
            #expect(lent.header == token.header && lent.payload == payload)
        }
    }

    /// What a verifier lends of a token: once when the token is good, and not at all when it is not.
    func lent(_ token: Span<UInt8>) -> Result<(header: JWSHeader, payload: [UInt8]), JWSError> {
        var lent: [(header: JWSHeader, payload: [UInt8])] = []
        do throws(JWSError) {
            try verifier.verify(token) { header, payload in
                lent.append((header, payload.withUnsafeBufferPointer { Array($0) }))
            }
        } catch {
            #expect(lent.isEmpty)
            return .failure(error)
        }
        #expect(lent.count == 1)
        return .success(lent[0])
    }

    /// What a token turns out to be, in both ways of verifying, which must be the same.
    func outcome(_ token: ArraySlice<UInt8>) -> Result<[UInt8], JWSError> {
        let parsed = Result { () throws(JWSError) in try verifier.verify(utf8: token) }
        let lent = lent(token.span)
        #expect(parsed.map(\.header) == lent.map(\.header))
        #expect(parsed.map(\.payload) == lent.map(\.payload))
        return parsed.map(\.payload)
    }

    @Test("A token whose parts are of unusual lengths is judged the same in both ways")
    func unusualLengths() throws {
        for signer in [rsa, curve] {
            let token = Array(try signer.sign(payload: Array("{}".utf8)).utf8)
            let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { Array($0) }
            let (head, payload, signature) = (parts[0], parts[1], parts[2])
            let long = [UInt8](repeating: UInt8(ascii: "A"), count: 17_000)
            let variants: [[[UInt8]]] = [
                [head, [], signature], [head, payload, []], [head, payload, signature + [0x41]],
                [head, payload, signature.dropLast()], [head, signature], [head, [0x2E], signature],
                [head, long, signature], [[], payload, signature], [head, payload, signature, []],
                [head, payload, [0x2E] + signature.dropFirst()],
                [head, payload + [0x2E], signature.dropFirst() + [0x41]],
            ]
            for variant in variants {
                let text: [UInt8] = Array(variant.joined(separator: [0x2E]))
                #expect(throws: JWSError.self) { try outcome(text[...]).get() }
            }
            #expect(throws: Never.self) { try outcome(token[...]).get() }
        }
    }

    /// A token with a header of the test's own, signed by the RSA key.
    func token(header: String) throws -> ArraySlice<UInt8> {
        let input = Array("\(Base64.encodeURL(header.utf8)).e30".utf8)
        return try (input + Array(".\(Base64.encodeURL(rsaKey.sign(input)))".utf8))[...]
    }

    @Test("A header that is spelled in another way is parsed, and its key found")
    func otherSpelling() throws {
        let text = try token(header: #"{ "alg":"RS256", "x":[1], "kid":"r-1" }"#)
        #expect(try outcome(text).get() == Array("{}".utf8))
        let token = try verifier.verify(utf8: text)
        #expect(token.header.type == nil && token.payload == Array("{}".utf8))
    }

    @Test(
        "A good signature under a header that does not lead to its key is refused",
        arguments: [
            (#"{"alg":"RS256","kid":"r-2"}"#, .unknownKey), (#"{"alg":"RS256"}"#, .unknownKey),
            (#"{"alg":"RS256","kid":""}"#, .unknownKey), (#"{"alg":"RS256","kid":"e \"1\""}"#, .algorithmMismatch),
            (#"{"alg":"ES256","kid":"r-1"}"#, .algorithmMismatch),
            (#"{"alg":"none","kid":"r-1"}"#, .unsupportedAlgorithm),
            (#"{"alg":"ES256","kid":"e \"1\""}"#, .badSignature),
            (#"{"alg":"RS256","kid":"r-1","crit":["x"]}"#, .malformed(.critical)),
        ] as [(String, JWSError)])
    func misled(_ header: String, _ error: JWSError) throws {
        let token = try token(header: header)
        #expect(throws: error) { try outcome(token).get() }
    }

    @Test("A key without kid, or for encryption, verifies nothing")
    func unusableKeys() throws {
        let text = try rsa.sign(payload: [1])
        var json = try #require(JWK(signing: rsaKey.publicKey, keyID: "r-1").json.members)
        #expect(throws: Never.self) {
            try JWSVerifier(JWKSet([JWK(.object(json))])).verify(utf8: Array(text.utf8)[...])
        }
        json[1] = JSONMember("use", "enc")
        let encryption = try JWSVerifier(JWKSet([JWK(.object(json))]))
        #expect(throws: JWSError.unknownKey) { try encryption.verify(utf8: Array(text.utf8)[...]) }
        let nameless = try JWSVerifier(JWKSet([JWK(.object(json.filter { $0.name != "kid" && $0.name != "use" }))]))
        #expect(throws: JWSError.unknownKey) { try nameless.verify(utf8: Array(text.utf8)[...]) }
    }

    @Test("One verifier and one signer serve many threads at once")
    func concurrency() async throws {
        let outcomes = await withTaskGroup(of: Int.self) { group in
            for signer in [rsa, curve] {
                for index in 0..<16 {
                    group.addTask {
                        (0..<10).count { round in
                            guard let text = try? signer.sign(payload: [UInt8(index), UInt8(round)]),
                                let token = try? verifier.verify(utf8: Array(text.utf8)[...])
                            else { return false }
                            return token.payload == [UInt8(index), UInt8(round)] && token.header.keyID == signer.keyID
                        }
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(outcomes == 320)
    }

    @Test("Of 2,000 random changes to a good token none verifies")
    func mutations() throws {
        var random = SplitMix64(state: 20_261_121)
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ {\"\u{0}".utf8)
        let tokens = try [rsa, curve].map { Array(try $0.sign(payload: Array("{\"sub\":\"app\"}".utf8)).utf8) }
        var refused = 0
        for round in 0..<2000 {
            let original = tokens[round % 2]
            var token = original
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let place = Int.random(in: 0..<token.count, using: &random)
                let other = tokens[(round + 1) % 2]
                switch Int.random(in: 0..<6, using: &random) {
                case 0: token[place] = alphabet.randomElement(using: &random) ?? 0
                case 1: token[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 2: token.remove(at: place)
                case 3: token.insert(alphabet.randomElement(using: &random) ?? 0, at: place)
                case 4: token.removeLast(min(token.count - 1, Int.random(in: 1..<40, using: &random)))
                default: token = Array(token[..<place] + other[min(place, other.count)...])
                }
            }
            // A change may undo another, or cut at a place that joins the other token whole.
            guard !tokens.contains(token) else { continue }
            #expect(throws: JWSError.self, "round \(round)") { try outcome(token[...]).get() }
            refused += 1
        }
        #expect(refused > 1950)
        #expect(throws: Never.self) { try verifier.verify(utf8: tokens[0][...]) }
        #expect(throws: Never.self) { try verifier.verify(utf8: tokens[1][...]) }
    }
}

/// Sebastiano Vigna's SplitMix64: the same numbers in each run, so that a failure can be repeated.
private struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
