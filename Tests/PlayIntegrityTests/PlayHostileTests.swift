import AssayCore
import AssayEngine
import AssayKit
import AssayPlayIntegrity
import AssayTesting
import Testing

@Suite("Hostile tokens")
struct PlayHostileTests {
    @Test("No token with a changed byte is accepted, and none that was cut off or extended")
    func bytes() async throws {
        let scene = try PlayScene(opening: .here)
        let token = try scene.play.classicToken(try await scene.verdict())
        let text = Array(token.utf8)
        for index in text.indices {
            // Another character of the alphabet, so that the form stays right, and one of another.
            for replacement in ["A", "B", "!"] where text[index] != replacement.utf8.first {
                var changed = text
                changed[index] = replacement.utf8.first ?? 0
                let reply = await scene.send(String(decoding: changed, as: UTF8.self))
                #expect(!reply.isAccepted && reply.failure?.status == .permissionDenied, "byte \(index)")
            }
        }
        for count in stride(from: 1, to: text.count, by: 7) {
            let reply = await scene.send(String(decoding: text[..<count], as: UTF8.self))
            #expect(!reply.isAccepted && reply.failure?.status == .permissionDenied, "\(count) bytes")
        }
        for more in ["A", ".", "=", ".AAAA"] { #expect(!(await scene.send(token + more).isAccepted)) }
        // What was refused is still good as it was.
        #expect(await scene.send(token).isAccepted)
    }

    static let forms: [(token: String, reason: Reason)] = [
        ("x", PlayIntegrityReasons.tokenMalformed), ("....", PlayIntegrityReasons.tokenMalformed),
        ("a.b.c", PlayIntegrityReasons.tokenMalformed), ("ä.b.c.d.e", PlayIntegrityReasons.tokenMalformed),
        (String(repeating: "A", count: 63), PlayIntegrityReasons.tokenMalformed),
        (String(repeating: "Ä", count: 64), PlayIntegrityReasons.tokenMalformed),
        (String(repeating: "A ", count: 64), PlayIntegrityReasons.tokenMalformed),
        (String(repeating: ".", count: 60_000), PlayIntegrityReasons.tokenMalformed),
        (String(repeating: "A", count: 60_000), PlayIntegrityReasons.needsGoogle),
    ]

    @Test("What has the form of no token is refused", arguments: forms)
    func malformed(_ token: String, _ reason: Reason) async throws {
        let scene = try PlayScene(opening: .here)
        #expect(await scene.send(token).failure?.reason == reason)
    }

    @Test("A token beyond the limit, and fields of other types, are mistakes of the client")
    func requests() async throws {
        let scene = try PlayScene(opening: .here)
        #expect(await scene.send(String(repeating: "A", count: 65_537)).failure?.status == .invalidArgument)
        for body in [[:], ["playIntegrityToken": 1], ["playIntegrityToken": ""], ["playIntegrityToken": ["a"]]]
            as [JSON]
        {
            let reply = await scene.engine.call(PlayScene.exchange, PlayScene.app, body)
            #expect(reply.failure?.status == .invalidArgument)
        }
    }

    /// Contents that Google would not sign, signed.
    static let contents: [(String, Reason)] = [
        ("", PlayIntegrityReasons.verdictMalformed), ("[]", PlayIntegrityReasons.verdictMalformed),
        ("{}", PlayIntegrityReasons.verdictMalformed), ("{", PlayIntegrityReasons.verdictMalformed),
        (#"{"requestDetails": {}, "requestDetails": {}}"#, PlayIntegrityReasons.verdictMalformed),
        (#"{"requestDetails": 1}"#, PlayIntegrityReasons.verdictMalformed),
        (#"{"requestDetails": {"timestampMillis": "x"}}"#, PlayIntegrityReasons.verdictMalformed),
        (#"{"requestDetails": {"timestampMillis": -1}}"#, PlayIntegrityReasons.verdictMalformed),
        (#"{"requestDetails": {"timestampMillis": 9223372036854775807}}"#, PlayIntegrityReasons.verdictMalformed),
        (#"{"requestDetails": {"timestampMillis": "99999999999999999999"}}"#, PlayIntegrityReasons.verdictMalformed),
        (#"{"requestDetails": {"timestampMillis": 1.5}}"#, PlayIntegrityReasons.verdictMalformed),
        (#"{"requestDetails": {"timestampMillis": 1}}"#, PlayIntegrityReasons.packageMismatch),
        (
            #"{"requestDetails": {"timestampMillis": "1", "requestPackageName": 1}}"#,
            PlayIntegrityReasons.verdictMalformed
        ),
        (
            #"{"requestDetails": {"timestampMillis": "1"}, "deviceIntegrity": {"deviceRecognitionVerdict": "x"}}"#,
            PlayIntegrityReasons.verdictMalformed
        ),
        (
            #"{"requestDetails": {"timestampMillis": "1"}, "deviceIntegrity": {"deviceRecognitionVerdict": [1]}}"#,
            PlayIntegrityReasons.verdictMalformed
        ),
        (
            #"{"requestDetails": {"timestampMillis": "1"}, "testingDetails": {"isTestingResponse": "false"}}"#,
            PlayIntegrityReasons.verdictMalformed
        ),
        (
            String(repeating: "[", count: 4000) + String(repeating: "]", count: 4000),
            PlayIntegrityReasons.verdictMalformed
        ),
        (
            #"{"requestDetails": {"timestampMillis": "1"}, "appIntegrity": {"versionCode": -1}}"#,
            PlayIntegrityReasons.verdictMalformed
        ),
        (
            #"{"requestDetails": {"timestampMillis": "1"}, "appIntegrity": {"versionCode": "-1"}}"#,
            PlayIntegrityReasons.verdictMalformed
        ),
        (String(repeating: " ", count: 20_000), PlayIntegrityReasons.verdictMalformed),
    ]

    @Test("What is signed and too long is refused for its length")
    func long() async throws {
        let scene = try PlayScene(opening: .here)
        let token = try scene.play.classicToken(holding: [UInt8](repeating: 0x20, count: 16_384))
        let reply = await scene.send(token)
        #expect(reply.failure?.reason == PlayIntegrityReasons.verdictMalformed)
        #expect(scene.engine.record(of: reply)?.detail?.hasSuffix(" bytes, expected at most 16384") == true)
    }

    @Test(
        "A classic token is for its nonce, whoever opens it: a request hash is no challenge", arguments: [true, false])
    func requestHash(isOpenedHere: Bool) async throws {
        let scene = try PlayScene(opening: isOpenedHere ? .here : .google)
        let challenge = try await scene.challenge()
        let reply = try await scene.classic { ($0.nonce, $0.requestHash) = (nil, challenge) }
        #expect(reply.failure?.reason == PlayIntegrityReasons.challengeMissing)
        #expect(
            scene.engine.record(of: reply)?.detail == "a classic token with a request hash, expected a nonce")
        #expect(try await scene.classic { ($0.nonce, $0.requestHash) = (challenge, nil) }.isAccepted)
    }

    @Test("Signed contents of a wrong form are refused, and are no fault", arguments: contents)
    func wrongContent(_ content: String, _ reason: Reason) async throws {
        let scene = try PlayScene(opening: .here)
        let token = try scene.play.classicToken(holding: Array(content.utf8))
        #expect(await scene.send(token).failure?.reason == reason)
    }

    @Test("Long words and lists of an authentic verdict are no fault")
    func large() async throws {
        let scene = try PlayScene(opening: .here)
        let reply = try await scene.classic {
            $0.appsDetected = (0..<40).map { "UNKNOWN_\(String(repeating: "X", count: 40))_\($0)" }
            $0.playProtect = String(repeating: "Ä", count: 500)
        }
        #expect(reply.isAccepted)
        let many = try await scene.classic { $0.appsDetected = Array(repeating: "A", count: 65) }
        #expect(many.failure?.reason == PlayIntegrityReasons.verdictMalformed)
    }
}
