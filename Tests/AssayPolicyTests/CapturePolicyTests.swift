import AssayCore
import AssayKit
import AssayPolicy
import AssayYAML
import Testing

@Suite("The section `capture`")
struct CapturePolicyTests {
    /// The public key of RFC 7518, appendix C: Bob's.
    private static let pem = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEweNJy2HscCSM6AEDTDg04biOvhFh
        yyWvOHQfeF/PxMR7yWcI74CVK1P40lVf5yuEHtBFiGKLHTeKWUk5UA7JyQ==
        -----END PUBLIC KEY-----
        """

    private static func load(_ text: String) throws -> PolicySet {
        try PolicySet.load([PolicyFile(name: "a.yaml", text: text)])
    }

    private static let apps = """
        projects:
          - number: 1234567890
            id: example-project
            apps:
              - id: 1:1234567890:ios:321abc456def7890
                providers: {}
        """

    @Test("What is absent has its default")
    func defaults() throws {
        let capture = try #require(try Self.load("capture: {public_key: 'file:key.pem'}").capture)
        #expect(capture.decisions == .refused && capture.limits == CaptureLimits())
        #expect(capture.limits.evidence == 65_536 && capture.limits.size == 1 << 30)
        #expect(capture.limits.age == .seconds(604_800))
        #expect(try Self.load(Self.apps).capture == nil)
    }

    @Test("Sizes are bytes, or have a unit")
    func values() throws {
        let text = """
            capture:
              public_key: file:key.pem
              decisions: all
              max_evidence: 128KiB
              max_size: 1048576
              max_age: 12h
            """
        let capture = try #require(try Self.load(text).capture)
        #expect(capture.decisions == .all)
        #expect(capture.limits == CaptureLimits(evidence: 131_072, size: 1 << 20, age: .seconds(43_200)))
    }

    @Test("An app says for itself what is captured of it, also by its profile")
    func apps() throws {
        let text = """
            capture: {public_key: 'file:key.pem'}
            profiles: {quiet: {capture: none}}
            projects:
              - number: 1234567890
                id: example-project
                apps:
                  - {id: "1:1234567890:ios:1", providers: {debug: {}}, capture: all}
                  - {id: "1:1234567890:ios:2", providers: {debug: {}}, profile: quiet}
                  - {id: "1:1234567890:ios:3", providers: {debug: {}}}
                oauth_clients: [{id: client, app: "1:1234567890:ios:2"}]
            """
        #expect(try Self.load(text).apps.map(\.capture) == [.all, CapturePolicy.Decisions.none, nil, .some(.none)])
    }

    @Test("An app's choice without the section is warned of")
    func withoutSection() throws {
        let policies = try Self.load(Self.apps + "\n        capture: all")
        let warnings = try #require(policies.warnings)
        #expect("\(warnings)".contains("has no effect without the section `capture` of the file"))
    }

    @Test(
        "A wrong section is refused at its place",
        arguments: [
            ("capture: {}", "1:10", "capture.public_key", "missing key"),
            ("capture: 5", "1:10", "capture", "a mapping"),
            ("capture: {public_key: key.pem}", "1:23", "capture.public_key", "file:PATH"),
            ("capture: {public_key: '-----BEGIN PUBLIC KEY-----'}", "1:23", "capture.public_key", "P-256"),
            ("capture: {public_key: '-----BEGIN PRIVATE KEY-----'}", "1:23", "capture.public_key", "private key"),
            ("capture: {public_key: 'file:a', decision: all}", "1:33", "capture.decision", "unknown key"),
            (
                "capture: {public_key: 'file:a', decisions: refusd}", "1:44", "capture.decisions",
                "expected one of `refused`, `all`, `none`"
            ),
            ("capture: {public_key: 'file:a', max_evidence: 1}", "1:47", "capture.max_evidence", "1KiB to 1MiB"),
            ("capture: {public_key: 'file:a', max_evidence: 2MiB}", "1:47", "capture.max_evidence", "1KiB to 1MiB"),
            ("capture: {public_key: 'file:a', max_size: 1GB}", "1:43", "capture.max_size", "1MiB to 1TiB"),
            ("capture: {public_key: 'file:a', max_size: -1}", "1:43", "capture.max_size", "1MiB to 1TiB"),
            ("capture: {public_key: 'file:a', max_size: 99999999999999999999TiB}", "1:43", "capture.max_size", "1MiB"),
            ("capture: {public_key: 'file:a', max_age: 59m}", "1:42", "capture.max_age", "1h to 3650d"),
        ])
    func refusals(_ text: String, _ place: String, _ path: String, _ message: String) {
        let error = #expect(throws: Diagnostics.self) { try Self.load(text) }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("a.yaml:\(place): \(path): ") && text.contains(message), "\(text)")
    }

    @Test("The section is in one place of a set")
    func twice() {
        let file = { PolicyFile(name: $0, text: "capture: {public_key: 'file:key.pem'}") }
        let error = #expect(throws: Diagnostics.self) { try PolicySet.load([file("a.yaml"), file("b.yaml")]) }
        #expect(
            "\(error.map { "\($0)" } ?? "")".contains(
                "b.yaml:1:10: capture: the section `capture` is in more than one place"))
    }

    @Test("An app's choice that is none is refused at its place")
    func wrongChoice() {
        let error = #expect(throws: Diagnostics.self) { try Self.load(Self.apps + "\n        capture: some") }
        #expect(
            "\(error.map { "\($0)" } ?? "")".contains(
                "a.yaml:7:18: projects[0].apps[0].capture: expected one of `refused`, `all`, `none`, found `some`"))
    }

    @Test("A key in the policy itself is read, and says nothing of the private one")
    func text() throws {
        let lines = Self.pem.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
        #expect(try Self.load("capture:\n  public_key: |\n\(lines)\n").capture != nil)
    }
}
