import AssayCore
import AssayKit
import AssayTestSupport
import Foundation
import Testing

@Suite("assay methods --format openapi")
struct OpenAPITests {
    private func description(policies: String? = nil) async throws -> JSON {
        let process = try AssayProcess(
            ["methods", "--format", "openapi"] + (policies.map { ["--policies", $0] } ?? []), environment: [:])
        let result = await process.result()
        #expect(result.status == 0, "\(result.errors)")
        return try JSON.parse(
            Array(result.output.utf8), limits: JSON.Limits(bytes: 4 << 20, values: 100_000, allowsRepeatedNames: false))
    }

    private func operations(_ document: JSON) throws -> [(path: String, verb: String, operation: JSON)] {
        try #require(document["paths"]?.members).flatMap { path in
            (path.value.members ?? []).map { (path.name, $0.name, $0.value) }
        }
    }

    @Test("It has one operation for each rule that is listed, each under a name of its own")
    func everyRule() async throws {
        let rules = try await AssayProcess.run("methods").lines.filter { $0.hasPrefix("  ") }
        let all = try operations(try await description())
        // What is there for any HTTP method has an operation for each that OpenAPI knows.
        #expect(all.count == rules.reduce(0) { $0 + ($1.hasPrefix("  * ") ? 8 : 1) })
        let names = all.compactMap { $0.operation["operationId"]?.string }
        #expect(Set(names).count == all.count)
    }

    @Test("Variables stand in the path as they are declared, and whatever is referred to is there")
    func consistency() async throws {
        let document = try await description()
        let responses = try #require(document["components"]?["responses"]?.members).map(\.name)
        for (path, verb, operation) in try operations(document) {
            let parameters = operation["parameters"]?.array ?? []
            let declared = parameters.compactMap { $0["in"]?.string == "path" ? $0["name"]?.string : nil }
            let used = path.matches(of: /\{([A-Za-z]+)\}/).map { String($0.output.1) }
            #expect(declared == used, "\(verb) \(path)")
            for answer in operation["responses"]?.members ?? [] where !["200", "204", "304"].contains(answer.name) {
                // OAuth's errors, and answers that are only a status, stand where they are given.
                guard let reference = answer.value["$ref"]?.string else { continue }
                #expect(responses.contains(String(reference.dropFirst("#/components/responses/".count))))
            }
        }
    }

    @Test("An entry of the deny list has facts with values, lists or comparisons")
    func denyEntry() async throws {
        let create = try #require(
            try operations(try await description()).first {
                $0.verb == "post" && $0.path.hasSuffix("/projects/{project}/denyEntries")
                    || $0.operation["operationId"]?.string?.hasPrefix("createDenyEntry") == true
            })
        let schema = create.operation["requestBody"]?["content"]?["application/json"]?["schema"]
        let match = try #require(schema?["properties"]?["match"])
        #expect(match["properties"]?["jti"]?["maxLength"] == 1024)
        let forms = try #require(match["additionalProperties"]?["anyOf"]?.array)
        #expect(forms.compactMap { $0["properties"]?["below"]?["description"] } == ["The fact is below this."])
        #expect(forms.contains { $0["type"] == "array" })
    }

    @Test("Who must show credentials can be told so, and nobody else")
    func credentials() async throws {
        for (path, verb, operation) in try operations(try await description()) {
            let isOpen = operation["security"]?.array?.isEmpty == true
            let isExchange = path.contains(":exchange") || path.contains(":generate") || path.hasSuffix("/jwks")
            let isPublished = path.contains("/.well-known/")
            let isChallenge = path == "/client-attestation/challenge"
            let parameters = operation["parameters"]?.array ?? []
            let takesToken = parameters.contains { $0["name"] == "X-Firebase-AppCheck" }
            let isForAnyone = isExchange || takesToken || isChallenge || isPublished || path == "/token"
            #expect(isOpen == isForAnyone, "\(verb) \(path)")
            #expect((operation["responses"]?["401"] == nil) == (isOpen && !takesToken), "\(verb) \(path)")
        }
    }

    @Test("With policies it has their names, and no method of a provider that they do not use")
    func policies() async throws {
        try await withTemporaryFolder { folder in
            let text = """
                projects: [{number: 7, id: seven, apps: [{id: "1:7:ios:ab", providers: {debug: {}}}]}]
                """
            try Data(text.utf8).write(to: folder.appendingPathComponent("a.yaml"))
            let document = try await description(policies: folder.path)
            let exchanges = try operations(document).filter { $0.path.contains(":exchange") }
            #expect(
                exchanges.map(\.path)
                    == ["v1", "v1beta"].map {
                        "/\($0)/projects/{project}/apps/{app}:exchangeDebugToken"
                    })
            let parameters = exchanges.first?.operation["parameters"]?.array ?? []
            let names: [JSON?] = parameters.map { $0["schema"]?["enum"] }
            #expect(names == [JSON.array(["7", "seven"]), JSON.array(["1:7:ios:ab"])])
            let body = exchanges.first?.operation["requestBody"]?["content"]?["application/json"]?["schema"]
            #expect(body?["required"] == ["debugToken"])
        }
    }

    @Test("Bad policies are told with their place; policies without the format are a mistake")
    func mistakes() async throws {
        try await withTemporaryFolder { folder in
            try Data("projects: 1\n".utf8).write(to: folder.appendingPathComponent("a.yaml"))
            let bad = try await AssayProcess.run("methods", "--format", "openapi", "--policies", folder.path)
            #expect(bad.status != 0)
            #expect(bad.errors.contains("a.yaml:1:11"), "\(bad.errors)")
            let mistaken = try await AssayProcess.run("methods", "--policies", folder.path)
            #expect(mistaken.status != 0)
            #expect(mistaken.errors.contains("--policies needs --format openapi"))
        }
    }
}
