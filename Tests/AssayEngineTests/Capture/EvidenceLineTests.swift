import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayTestSupport
import Testing
@testable import AssayServices

@Suite("Lines of captured evidence")
struct EvidenceLineTests {
    /// A line of a real capture, with its key.
    private func captured() async throws -> (line: [UInt8], key: PrivateKey) {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder)
            _ = await scene.sendDebugToken(CaptureScene.wrongToken)
            return (try #require(try await scene.lines().first), scene.key)
        }
    }

    @Test(
        "A changed field in clear is noticed, and so is a changed message",
        arguments: [
            "decision", "time", "resource", "provider", "method", "kid", "jwe",
        ])
    func changed(_ name: String) async throws {
        let (line, key) = try await captured()
        #expect(throws: Never.self) { try EvidenceLine(parsing: line).open(with: key) }
        let members = try #require(try JSON.parse(line).members).map { member in
            guard member.name == name else { return member }
            let text = member.value.string ?? ""
            let other =
                name == "time" ? "2026-11-21T12:00:00.001Z" : (text.hasPrefix("x") ? "y" : "x") + text.dropFirst()
            return JSONMember(name, .string(other))
        }
        #expect(throws: EvidenceError.self) {
            try EvidenceLine(parsing: JSON.object(members).encoded).open(with: key)
        }
    }

    @Test("Another key is named in the error, and the message is not touched")
    func otherKey() async throws {
        let (line, key) = try await captured()
        let other = try PrivateKey.generate(.ec(.p256))
        let error = #expect(throws: EvidenceError.self) { try EvidenceLine(parsing: line).open(with: other) }
        #expect(error?.message.contains(JWK(key.publicKey).thumbprint) == true)
        for other in [try PrivateKey.generate(.ec(.p384)), try PrivateKey.generate(.rsa(bits: 2048))] {
            #expect(throws: EvidenceError.self) { try EvidenceLine(parsing: line).open(with: other) }
        }
    }

    @Test("No prefix of a line is one, and neither is a line with more behind it")
    func truncated() async throws {
        let (line, _) = try await captured()
        for count in stride(from: 0, to: line.count, by: 7) {
            #expect(throws: EvidenceError.self) { try EvidenceLine(parsing: Array(line[..<count])) }
        }
        #expect(throws: EvidenceError.self) { try EvidenceLine(parsing: line + line) }
    }

    @Test(
        "Other texts are no lines",
        arguments: [
            "", "[]", "{}", #"{"v":2}"#,
            #"{"v":1,"decision":"a","time":"now","resource":"r","provider":"p","kid":"k","jwe":""}"#,
            #"{"v":1,"v":1}"#, "\u{0}", String(repeating: "[", count: 10_000),
        ])
    func others(_ text: String) {
        #expect(throws: EvidenceError.self) { try EvidenceLine(parsing: Array(text.utf8)) }
    }

    @Test("A huge line is refused before it is read")
    func huge() {
        let line = [UInt8](repeating: UInt8(ascii: " "), count: EvidenceLine.maximumByteCount + 1)
        #expect(throws: EvidenceError.self) { try EvidenceLine(parsing: line) }
    }

    /// A line that anyone who has the public key can make.
    private func forged(_ content: JSON, _ key: PrivateKey) throws -> [UInt8] {
        let recipient = try JWERecipient(key.publicKey)
        let message = try CompactJWE.encrypt(content.encoded, to: recipient)
        return JSON.object([
            "v": 1, "decision": "01M", "time": "2026-11-21T12:00:00.000Z", "resource": "r", "provider": "p",
            "method": "m", "kid": .string(recipient.keyID), "jwe": .string(String(decoding: message, as: UTF8.self)),
        ]).encoded
    }

    private static let content: [JSONMember] = [
        JSONMember("v", 1), JSONMember("decision", "01M"), JSONMember("now", 1_795_262_400_000),
        JSONMember("resource", "r"), JSONMember("provider", "p"), JSONMember("method", "m"),
        JSONMember("version", "v1"), JSONMember("outcome", "issued"), JSONMember("revision", ""),
        JSONMember("state", []), JSONMember("opened", []), JSONMember("body", [:]),
    ]

    @Test(
        "Content of another form is refused, whoever encrypted it",
        arguments: [
            ("v", 2), ("now", "x"), ("version", "v9"), ("outcome", "maybe"), ("outcome", "refused"), ("state", [:]),
            ("state", [["space": "state", "name": "n"]]),
            ("state", [["space": "state", "name": "n", "advance": true, "to": "-1"]]),
            ("state", [["space": "state", "name": "n", "get": "%"]]), ("opened", [["sha256": "xyz", "content": nil]]),
            ("left_out", ["everything"]), ("decision", 1), ("challenge", "%"), ("now", 1),
        ] as [(String, JSON)])
    func content(_ name: String, _ value: JSON) throws {
        let key = try PrivateKey.generate(.ec(.p256))
        #expect(throws: Never.self) { try EvidenceLine(parsing: forged(.object(Self.content), key)).open(with: key) }
        let members = Self.content.filter { $0.name != name } + [JSONMember(name, value)]
        #expect(throws: EvidenceError.self) {
            try EvidenceLine(parsing: forged(.object(members), key)).open(with: key)
        }
    }

    @Test("Evidence is read as it was written, with all that it can have")
    func roundTrip() throws {
        let evidence = CapturedEvidence(
            decision: DecisionID(text: "01M"), time: Instant(milliseconds: 1_795_262_400_001), resource: "r",
            provider: "p", method: "m", version: .v1beta, body: ["a": [1, nil, "é\u{0}"]], challenge: [0, 255],
            outcome: .refused("because"), detail: "d", rule: "rule", revision: "label@hash",
            state: [
                StateAnswer("state", "a", .get(nil)), StateAnswer("appState/x", "b", .get([])),
                StateAnswer("plugin", "c", .insert(false)), StateAnswer("state", "d", .advance(to: .max, true)),
            ], opened: [OpenedData(digest: [1, 2], content: [3]), OpenedData(digest: [4], content: nil)],
            leftOut: [.state])
        #expect(try CapturedEvidence(json: JSON.parse(evidence.json.encoded)) == evidence)
    }
}
