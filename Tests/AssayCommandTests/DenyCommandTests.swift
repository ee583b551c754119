import AssayCore
import AssayTestSupport
import Foundation
import Testing

@Suite("assay deny against a running server", .timeLimit(.minutes(20)))
struct DenyCommandTests {
    private func withServer(_ body: (AdminServer, URL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let server = try await AdminServer(in: folder)
            try await body(server, folder)
            try await server.kill()
        }
    }

    private func deny(
        _ server: AdminServer, _ arguments: [String], project: String = "example-project",
        token: String = AdminServer.token
    ) async throws -> AssayProcess.Result {
        try await AssayProcess(
            ["deny"] + arguments + ["--project", project, "--endpoint", server.server.base],
            environment: ["ASSAY_TOKEN": token]
        ).result()
    }

    @Test("An entry is added, listed and removed; what is wrong is said, with what is known")
    func life() async throws {
        try await withServer { server, _ in
            let added = try await deny(server, ["add", "--jti", "abc", "--note", "incident 42", "--until", "1d"])
            #expect(added.status == 0)
            let name = try #require(added.lines.first)
            let list = try await deny(server, ["list"])
            #expect(list.lines.count == 1)
            #expect(list.output.contains("\(name)  {\"jti\":\"abc\"}  until 20"))
            #expect(list.output.contains("by root at"))
            let json = try await deny(server, ["list", "--format", "json"])
            #expect(try JSON.parse(Array(json.output.utf8))["note"] == "incident 42")

            for (arguments, words) in [
                (["add", "--fact", "nonsense_without_likeness=x"], "; known facts: "),
                (["add", "--fact", "key_ids=x"], "did you mean `key_id`?"),
                (["add", "--fact", "key_age=yes"], "the field 'match.key_age' is wrong: expected a duration"),
                (
                    ["remove", "00000000-0000-4000-8000-000000000000"],
                    "The deny list of the project has no such entry."
                ),
            ] {
                let result = try await deny(server, arguments)
                #expect(result.status == 2, "\(arguments)")
                #expect(result.errors.contains(words), "\(result.errors)")
                #expect(result.output.isEmpty)
            }
            let unknown = try await deny(server, ["remove", name], project: "other-project")
            #expect(unknown.status == 2)
            #expect(unknown.errors.contains("The policies of this server have no such project"))
            #expect(try await deny(server, ["list"], token: "wrong-token-0123456789").errors.contains("status 401"))

            #expect(try await deny(server, ["remove", name]).status == 0)
            let again = try await deny(server, ["remove", name])
            #expect(again.status == 2)
            #expect(again.errors.contains("status 404: The deny list of the project has no such entry."))
            let empty = try await deny(server, ["list"])
            #expect(empty.status == 0)
            #expect(empty.output.isEmpty)
            #expect(empty.errors.contains("no entry was added with `deny add`"))
        }
    }

    @Test("Facts are sent in the types that they have")
    func types() async throws {
        try await withServer { server, _ in
            for (fact, json) in [
                ("bundle_version=17", "{\"bundle_version\":\"17\"}"), ("key_age=60s", "{\"key_age\":\"60s\"}"),
                ("risk_metric=5", "{\"risk_metric\":5}"),
                ("environment=production", "{\"environment\":\"production\"}"),
            ] {
                let added = try await deny(server, ["add", "--fact", fact])
                #expect(added.status == 0, "\(added.errors)")
                let list = try await deny(server, ["list"])
                #expect(list.output.contains(json), "\(list.output)")
            }
        }
    }

    @Test("All known facts are listed to the last one")
    func knownFacts() async throws {
        try await withServer { server, _ in
            let result = try await deny(server, ["add", "--fact", "nonsense_without_likeness=x"])
            for fact in ["bundle_version", "environment", "key_id", "provider", "risk_metric", "validation_category"] {
                #expect(result.errors.contains("`\(fact)`"), "\(fact)\n\(result.errors)")
            }
            #expect(!result.errors.contains("..."))
        }
    }

    @Test("Over HTTP a misspelled parameter is refused with its name, and Google's standard ones are accepted")
    func queries() async throws {
        try await withServer { server, _ in
            let path = "/v1/projects/example-project/denyEntries"
            let wrong = try await server.send("GET", "\(path)?pageSise=1")
            #expect(wrong.status == 400)
            #expect(wrong.body["error"]?["status"] == "INVALID_ARGUMENT")
            #expect(wrong.body["error"]?["message"] == "unknown field 'pageSise'; did you mean `pageSize`?")
            let twice = try await server.send("GET", "\(path)?pageSize=1&pageSize=2")
            #expect(twice.status == 400)
            #expect(twice.body["error"]?["message"] == "the field 'pageSize' is present more than once")
            let standard = "alt=json&prettyPrint=false&key=k&fields=*&$.xgafv=2&quotaUser=u"
            #expect(try await server.send("GET", "\(path)?\(standard)").status == 200)
            #expect(try await server.send("GET", "\(path)?page_size=1").status == 200)
            #expect(try await server.send("DELETE", "\(path)/x?force=true").status == 400)
            // Google's own methods ignore what they do not know.
            #expect(try await server.send("GET", "/v1/projects/example-project/services?reasson=x").status == 200)
        }
    }

    @Test(
        "What is no bearer token, no server, or no entry ends with 2 before or after the call",
        arguments: [
            ["list", "--project", "p", "--endpoint", "http://127.0.0.1:1"],
            ["list", "--project", "p", "--caller-token", "env:ASSAY_NONE"],
            ["list", "--project", "p", "--caller-token", "file:/absent"], ["list", "--project", "../x"],
            ["list", "--project", ""],
            ["remove", "--project", "p", "a/../b c"], ["remove", "--project", "p", "/"], ["add", "--project", "p"],
            ["list"],
        ])
    func refused(_ arguments: [String]) async throws {
        let result = try await AssayProcess(["deny"] + arguments, environment: ["ASSAY_TOKEN": "a-token-0123456789"])
            .result()
        #expect(result.status == 2, "\(result.errors)")
        #expect(!result.errors.isEmpty)
        #expect(!result.errors.contains("a-token-0123456789"))
    }
}
