import AssayCBOR
import AssayCore
import AssayCrypto
import AssayTesting
import Testing

@testable import AssayRequestProof

private let input = SignatureInput(created: 1_764_000_000).text

/// A field `Signature-Input` that is not accepted.
private let badInputs: [String] = [
    "", "appcheck", "appcheck=", "appcheck=()", "sig1=\(input)", "Appcheck=\(input)",
    "appcheck=\(input), appcheck=\(input)",
    "appcheck=\(input);nonce=\"a\"", "appcheck=\(input) ;a", "appcheck= \(input)",
    "appcheck=" + input.replacing("1764000000", with: "01764000000"),
    "appcheck=" + input.replacing("1764000000", with: "-1"), "appcheck=" + input.replacing("1764000000", with: "1.5"),
    "appcheck=" + input.replacing("1764000000", with: "1764000000000"),
    "appcheck=" + input.replacing("1764000000", with: ""), "appcheck=" + input.replacing("1764000000", with: "１"),
    "appcheck=" + input.replacing("\"@method\" ", with: ""),
    "appcheck=" + input.replacing("\"@method\" \"@authority\"", with: "\"@authority\" \"@method\""),
    "appcheck=" + input.replacing("appcheck-request", with: "appcheck"), "a=\"\n\", appcheck=\(input)",
    "a=\"\\\", appcheck=\(input)", String(repeating: "a=1, ", count: 1000) + "appcheck=\(input)",
    String(repeating: "a=1, ", count: 16) + "appcheck=\(input)",
]

private let goodInputs: [String] = [
    "sig1=(\"@method\");created=1, appcheck=\(input)", "appcheck=\(input),sig1=()", "  appcheck=\(input)  ",
    "a=\"x, appcheck=\\\"\", appcheck=\(input)", "appcheck2=?1, appcheck=\(input)",
    String(repeating: "a=1, ", count: 15) + "appcheck=\(input)",
]

private let badDigests: [String?] = [
    nil, "", "sha-256", "sha-512=:\(Base64.encode([UInt8](repeating: 0, count: 64))):",
    ProofScene.digest(ProofScene.content) + " ", ProofScene.digest(ProofScene.content).uppercased(),
    ProofScene.digest(ProofScene.content) + ", " + ProofScene.digest([]),
    "sha-256=:\(Base64.encodeURL(SHA256.hash(ProofScene.content))):",
]

private let hosts: [(String, Bool)] = [
    ("api.example.com", true), ("localhost:8443", true), ("[::1]:8080", true), ("10.0.0.1", true), ("", false),
    ("API.example.com", false), ("https://api.example.com", false), ("api.example.com:443", false),
    ("api.example.com:80", false), ("api.example.com/", false), ("a b", false), ("ä.example.com", false),
    (String(repeating: "a", count: 256), false), ("::1", false), ("[::1", false), ("[1]", false), ("[::1]x", false),
    ("a:0", false), ("a:99999", false), ("a:08443", false), ("a:", false), ("api.example.com.", false), ("a..b", false),
    ("-a", false), ("a:1:2", false), ("*", false), ("a_b.example.com:65535", true),
]

private let notRequests: [(String, String)] = [
    ("", "/"), ("GET ", "/"), ("GET\n", "/"), ("GET", ""), ("GET", "a"), ("GET", "https://a/"), ("GET", "/a b"),
    ("GET", "/é"),
    ("GET", "/a\r\n\"@method\": PUT"), ("GET", "/" + String(repeating: "a", count: 16_384)),
    (String(repeating: "A", count: 33), "/"),
]

@Suite("Verifying the proof of a request")
struct RequestProofVerifierTests {
    @Test("A good proof says what was signed, when, and what it is remembered by")
    func good() throws {
        let scene = try ProofScene()
        var ids: Set<ExactText> = []
        for counter: UInt32 in 1...3 {
            let outcome = scene.verifier.verify(
                try scene.headers(), of: try ProofScene.request(), by: scene.key, now: scene.now)
            guard case .verified(let proof) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(proof.counter == counter)
            #expect(proof.created == scene.now)
            #expect(proof.isGoodUntil == scene.now + .seconds(605))
            #expect(proof.contentSHA256 == SHA256.hash(ProofScene.content))
            #expect(proof.isMade(after: scene.now - .seconds(5)))
            #expect(!proof.isMade(after: scene.now - .milliseconds(4999)))
            #expect(proof.id.utf8.count == 43)
            ids.insert(ExactText(proof.id))
        }
        #expect(ids.count == 3)
    }

    @Test("A proof is for one method, target, host, content, time, key and app")
    func others() throws {
        let scene = try ProofScene()
        let headers = try scene.headers()
        #expect(try scene.reason(headers) == nil)
        for (method, target) in [
            ("PUT", "/payments?id=7"), ("post", "/payments?id=7"), ("POST", "/payments?id=8"), ("POST", "/payments"),
            ("POST", "/payments/?id=7"), ("POST", "/payments?id=7&a"), ("POST", "/payment%73?id=7"),
        ] {
            #expect(try scene.reason(headers, ProofScene.request(method, target)) == "proof_signature", "\(target)")
        }
        #expect(try scene.reason(scene.headers(authority: "other.example.com")) == "proof_signature")
        #expect(try scene.reason(scene.headers(authority: "api.example.com:443")) == "proof_signature")
        var other = headers
        other.contentDigest = ProofScene.digest([])
        #expect(try scene.reason(other) == "proof_signature")
        other = headers
        other.signatureInput = "appcheck=\(SignatureInput(created: scene.now.seconds + 1).text)"
        #expect(try scene.reason(other) == "proof_signature")
        let point = try scene.device.key(scene.device.generateKey()).point
        let otherKey = ConfirmationKey(publicKey: point, relyingPartyHash: scene.key.relyingPartyHash)
        #expect(try scene.reason(headers, key: #require(otherKey)) == "proof_signature")
        let off = ConfirmationKey(
            publicKey: [4] + [UInt8](repeating: 1, count: 64), relyingPartyHash: scene.key.relyingPartyHash)
        #expect(try scene.reason(headers, key: #require(off)) == "proof_signature")
        let otherApp = ConfirmationKey(publicKey: scene.key.publicKey, relyingPartyHash: SHA256.hash([]))
        #expect(try scene.reason(headers, key: #require(otherApp)) == "proof_other_app")
    }

    @Test("A proof is good for a minute, and a client's clock may be five seconds ahead")
    func time() throws {
        let scene = try ProofScene()
        let headers = try scene.headers()
        for (time, expected) in [
            (Duration.seconds(60), nil), (.milliseconds(60_001), "proof_too_old"), (.seconds(-5), nil),
            (.milliseconds(-5001), "proof_not_yet_valid"), (.seconds(1 << 40), "proof_too_old"),
        ] as [(Duration, String?)] {
            #expect(try scene.reason(headers, after: time) == expected, "\(time)")
        }
        #expect(try scene.reason(scene.headers(created: 999_999_999_999)) == "proof_not_yet_valid")
        let short = try #require(
            RequestProofVerifier(authorities: [ProofScene.authority], maximumAge: .seconds(1)))
        let late = short.verify(
            headers, of: try ProofScene.request(), by: scene.key, now: scene.now + .milliseconds(1001))
        guard case .refused(let reason, _) = late else {
            Issue.record("\(late)")
            return
        }
        #expect(reason == RequestProofReasons.tooOld)
    }

    @Test("Without a proof, or a key, it is said so")
    func missing() throws {
        let scene = try ProofScene()
        let nothing = RequestProofHeaders { _ in nil }
        #expect(try scene.reason(nothing) == "proof_missing")
        // Other software sends digests without signatures.
        let digest = RequestProofHeaders { $0.isExactly("content-digest") ? ProofScene.digest([]) : nil }
        #expect(try scene.reason(digest) == "proof_missing")
        let outcome = scene.verifier.verify(
            try scene.headers(), of: try ProofScene.request(), by: nil, now: scene.now)
        guard case .refused(let reason, _) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(reason == RequestProofReasons.keyMissing)
    }

    @Test("Only one form of Signature-Input is accepted", arguments: badInputs)
    func badInput(_ value: String) throws {
        let scene = try ProofScene()
        var headers = try scene.headers()
        headers.signatureInput = value
        #expect(try scene.reason(headers) == "proof_malformed")
    }

    @Test("Other signatures may be beside it", arguments: goodInputs)
    func otherSignatures(_ value: String) throws {
        let scene = try ProofScene()
        var headers = try scene.headers()
        headers.signatureInput = value
        headers.signature = "sig1=:AAAA:, " + (headers.signature ?? "")
        #expect(try scene.reason(headers) == nil)
    }

    @Test("Only one form of Content-Digest is accepted", arguments: badDigests)
    func badDigest(_ value: String?) throws {
        let scene = try ProofScene()
        var headers = try scene.headers()
        headers.contentDigest = value
        #expect(try scene.reason(headers) == "proof_malformed")
    }

    @Test("Only assertions are accepted as signatures, and their form is strict")
    func badSignatures() throws {
        let scene = try ProofScene()
        let good = try #require(try scene.headers().signature)
        let member = String(good.dropFirst("appcheck=".count))
        var values: [String] = [
            "", "appcheck", "appcheck=::", "appcheck=:", "appcheck=\(member.dropFirst())", "appcheck=\(member);a=1",
            "sig1=\(member)", "\(good), \(good)", "appcheck=:AAAA:",
            "appcheck=:\(Base64.encode([UInt8](repeating: 0x41, count: 1200))):",
            good.replacing("+", with: "-").replacing("/", with: "_").replacing("=:", with: ":"),
        ]
        if values.last.map({ $0.isExactly(good) }) == true { values.removeLast() }
        for value in values {
            var headers = try scene.headers()
            headers.signature = value
            #expect(try scene.reason(headers) == "proof_malformed", "\(value)")
        }
        var options = AssertionOptions()
        // A later release of Apple's systems may add a member.
        options.object = { $0.append(CBORPair(.text("more"), .array([.text("a")]))) }
        #expect(try scene.reason(scene.headers(options)) == nil)
        options.object = { $0 += [CBORPair(.text("more"), .null), CBORPair(.text("more"), .null)] }
        #expect(try scene.reason(scene.headers(options)) == "proof_malformed")
        options.object = { $0.append(CBORPair(.unsigned(1), .null)) }
        #expect(try scene.reason(scene.headers(options)) == "proof_malformed")
        options.object = { $0.removeLast() }
        #expect(try scene.reason(scene.headers(options)) == "proof_malformed")
        options.object = { $0.reverse() }
        #expect(try scene.reason(scene.headers(options)) == nil)
        options = AssertionOptions()
        options.encoded = { $0.append(0) }
        #expect(try scene.reason(scene.headers(options)) == "proof_malformed")
        options = AssertionOptions()
        options.signature = { $0 = [] }
        #expect(try scene.reason(scene.headers(options)) == "proof_signature")
    }

    @Test("No change of a single bit of an assertion passes")
    func bits() throws {
        let scene = try ProofScene()
        let headers = try scene.headers()
        let text = try #require(headers.signature).dropFirst("appcheck=:".count).dropLast()
        let assertion = try #require(Base64.decode(text))
        for bit in 0..<assertion.count * 8 {
            var changed = assertion
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            var other = headers
            other.signature = "appcheck=:\(Base64.encode(changed)):"
            #expect(try scene.reason(other) != nil, "bit \(bit)")
        }
    }

    @Test("A server with several names takes each of them")
    func names() throws {
        let scene = try ProofScene(authorities: ["api.example.com", "localhost:8443"])
        #expect(try scene.reason(scene.headers(authority: "localhost:8443")) == nil)
        #expect(try scene.reason(scene.headers(authority: "localhost")) == "proof_signature")
    }

    @Test("Names of servers are hosts as clients write them", arguments: hosts)
    func host(_ text: String, _ isHost: Bool) {
        #expect(RequestProofVerifier.isAuthority(text) == isHost)
        #expect((RequestProofVerifier(authorities: [text]) != nil) == isHost)
    }

    @Test("A verifier has one to eight names, and an age of one second to ten minutes")
    func bounds() {
        #expect(RequestProofVerifier(authorities: []) == nil)
        #expect(RequestProofVerifier(authorities: (1...8).map { "a\($0)" }) != nil)
        #expect(RequestProofVerifier(authorities: (1...9).map { "a\($0)" }) == nil)
        for (age, isGood) in [
            (Duration.milliseconds(999), false), (.seconds(1), true), (.seconds(600), true), (.seconds(601), false),
        ] {
            #expect((RequestProofVerifier(authorities: ["a"], maximumAge: age) != nil) == isGood, "\(age)")
        }
    }

    @Test("What no request has as method or target is no request", arguments: notRequests)
    func noRequest(_ method: String, _ target: String) {
        #expect(ProvenRequest(method: method, target: target) == nil)
    }
}
