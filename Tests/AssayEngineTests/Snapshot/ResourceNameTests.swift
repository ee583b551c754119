import AssayCore
import AssayKit
import AssayPolicy
import Testing

@testable import AssayEngine

@Suite("Names of resources that clients send")
struct ResourceNameTests {
    private func message(_ name: String) -> String? {
        do throws(InvalidRequest) {
            try ResourceName.check(name)
            return nil
        } catch {
            return error.message
        }
    }

    @Test(
        "A name of one of the three forms is well formed, whether there is such a resource or not",
        arguments: [
            "projects/1/apps/1:1:ios:a", "projects/a-b.c_d/apps/1:2:web:0F", "oauthClients/a.apps.example.com",
            "projects/a", "projects/\(String(repeating: "a", count: 200))", "projects/a:b",
        ])
    func wellFormed(_ name: String) {
        #expect(message(name).isNil)
    }

    @Test(
        "Any other name is malformed, with the part that is wrong",
        arguments: [
            ("", "the resource must be"), ("/", "the resource must be"), ("projects", "the resource must be"),
            ("projects/", "the project is malformed"), ("projects//apps/1:1:ios:a", "the project is malformed"),
            ("projects/a/apps/", "the app ID is malformed"), ("projects/a/apps/1:1:ios", "the app ID is malformed"),
            ("projects/a/apps/1:1:ios:a:b", "the app ID is malformed"),
            ("projects/a/apps/x:1:ios:a", "the app ID is malformed"),
            ("projects/a/apps/1::ios:a", "the app ID is malformed"),
            ("projects/a/App/1:1:ios:a", "the resource must be"),
            ("projects/a/apps/1:1:ios:a/x", "the resource must be"),
            ("oauthClients/", "the OAuth client ID is malformed"),
            ("oauthClients/a b", "the OAuth client ID is malformed"), ("projects/\u{E9}", "the project is malformed"),
            ("projects/a\0", "the project is malformed"), ("Projects/a", "the resource must be"),
            ("projects/\(String(repeating: "a", count: 201))", "the project is malformed"),
            (String(repeating: "/", count: 513), "the resource name is too long"),
            (String(repeating: "projects/", count: 1_000_000), "the resource name is too long"),
        ])
    func malformed(_ name: String, _ words: String) {
        #expect(message(name)?.contains(words) == true, "\(message(name) ?? "")")
    }
}

@Suite("Names of resources that policies define")
struct DefinedNameTests {
    @Test("Whatever a policy may call a project, an app or a client, clients can send its name")
    func names() throws {
        let (project, client) = (String(repeating: "p", count: 63), String(repeating: "c", count: 200))
        let app = "1:1:ios:\(String(repeating: "a", count: 192))"
        for id in [project, "example.com:a-b", "1a"] {
            let text = """
                projects:
                  - number: 12345678901234567890
                    id: \(id)
                    apps: [{id: '\(app)'}, {id: '1:1:web:0F'}]
                    oauth_clients: [{id: \(client), app: '\(app)'}, {id: -._, app: '\(app)'}]
                """
            let policies = try PolicySet.load([PolicyFile(name: "a.yaml", text: text)])
            #expect(policies.apps.count == 4)
            for name in policies.apps.map(\.identity.resource) + policies.apps.compactMap(\.alias) {
                #expect(throws: Never.self) { try ResourceName.check(name) }
            }
        }
    }
}

@Suite("Text from outside in records")
struct SafeTextTests {
    @Test(
        "Only printable ASCII is shown, of bounded length",
        arguments: [
            ("abc ~", "abc ~"), ("a\nb", "a?b"), ("a\u{1B}[2J", "a?[2J"), ("\u{E9}", "?"), ("e\u{301}", "e?"),
            ("\u{202E}abc", "?abc"), ("", ""), ("a\0b\u{7F}", "a?b?"), ("0123456789", "0123456789"),
            ("0123456789A", "0123456789..."), ("\u{E9}123456789A", "?123456789..."),
        ])
    func shown(_ text: String, _ shown: String) {
        #expect(SafeText.of(text, limit: 10).isExactly(shown))
    }
}
