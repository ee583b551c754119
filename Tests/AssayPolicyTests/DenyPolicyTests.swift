import AssayCore
import AssayPolicy
import AssayYAML
import Testing

@Suite("The section deny")
struct DenyPolicyTests {
    private static func problems(_ deny: String, more: String = "") -> [String] {
        let text = """
            deny:
            \(deny)
            projects:
              - {number: 1234567890, id: example-project, apps: [{id: "1:1234567890:ios:ab", providers: {debug: {}}}]}
            \(more)
            """
        return PolicySet.read([PolicyFile(name: "a.yaml", text: text)]).problems?.all.map { problem in
            [
                problem.location.map { "\($0.line):\($0.column)" } ?? "", problem.path, problem.message,
                problem.hint ?? "",
            ]
            .filter { !$0.isEmpty }.joined(separator: ": ")
        } ?? []
    }

    @Test(
        "A wrong entry is an error at its place",
        arguments: [
            (
                "  - {note: x}",
                ["2:5: deny[0]: an entry needs `jti` or a fact, such as `key_id`: otherwise it would refuse everything"]
            ),
            ("  - {jti: a, key_id: b}", ["2:14: deny[0].key_id: an entry has either `jti` or facts, not both"]),
            ("  - {jti: \"\"}", ["2:11: deny[0].jti: a `jti` has 1 to 1024 bytes"]),
            (
                "  - {key_id: a, until: soon}",
                ["2:24: deny[0].until: not a time: write it as 2026-12-31T23:59:59Z (RFC 3339)"]
            ),
            ("  - {key_id: null}", ["2:14: deny[0].key_id: expected a value, or a comparison such as {below: 5}"]),
            ("  - key_id", ["2:5: deny[0]: expected a mapping, found `key_id`"]),
            (
                "  - {key_id: a, app: \"1:1234567890:ios:ac\"}",
                [
                    "2:22: deny[0].app: unknown app or OAuth client `1:1234567890:ios:ac`: did you mean `1:1234567890:ios:ab`?"
                ]
            ),
        ])
    func wrong(_ deny: String, _ expected: [String]) {
        #expect(Self.problems(deny) == expected)
    }

    @Test("Entries may be in several files, up to a limit")
    func limit() {
        let entries = (0..<10_001).map { "  - {jti: t\($0)}" }.joined(separator: "\n")
        #expect(Self.problems(entries) == ["2:3: deny: the deny list has at most 10000 entries"])
        let files = (0..<3).map { PolicyFile(name: "\($0).yaml", text: "deny: [{jti: t\($0)}]") }
        #expect(PolicySet.read(files).problems == nil)
    }
}
