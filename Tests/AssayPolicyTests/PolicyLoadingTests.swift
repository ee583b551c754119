import AssayCore
import AssayKit
import AssayPolicy
import AssayYAML
import Foundation
import Testing

@Suite("Policies load")
struct PolicyLoadingTests {
    private static let examples = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("policies").path

    @Test("The example policies define the example project, its app and its OAuth client")
    func examples() throws {
        let policies = try PolicyDirectory(Self.examples).load()
        #expect(policies.tokens == TokenPolicy(algorithm: .rs256, rsaBits: 2048))
        let app = try #require(policies.apps.first)
        #expect(app.identity.resource == "projects/1234567890/apps/1:1234567890:ios:321abc456def7890")
        #expect(app.alias == "projects/example-project/apps/1:1234567890:ios:321abc456def7890")
        #expect(app.sections.map(\.name) == ["apple"])
        #expect(app.providers.map(\.name) == ["app_attest", "debug"])
        #expect(app.providers.map(\.tokenLifetime) == [.seconds(3600), .seconds(3600)])
        let client = try #require(policies.apps.last)
        #expect(client.identity.resource == "oauthClients/1234567890-example.apps.googleusercontent.com")
        #expect(client.identity.linkedApp == app.identity.resource)
        #expect(client.providers.map(\.name) == ["app_attest", "debug"])
        #expect(client.issuerPrefix == "https://firebaseappcheck.googleapis.com/")
    }

    @Test("The life of a token is the provider's, else the app's, else one hour")
    func tokenLifetime() throws {
        let text = """
            projects:
              - number: 1
                id: a
                apps:
                  - id: 1:1:ios:a
                    token_ttl: 2h
                    providers: {x: {token_ttl: 7d}, y: {}}
                  - id: 1:1:ios:b
                    providers: {x: {token_ttl: 30m}, y: {}, z: {}}
            """
        let policies = try PolicySet.load([PolicyFile(name: "a.yaml", text: text)])
        #expect(
            policies.apps.flatMap(\.providers).map(\.tokenLifetime) == [
                .seconds(604_800), .seconds(7200), .seconds(1800), .seconds(3600), .seconds(3600),
            ])
    }

    @Test("An OAuth client has its app's providers unless it names its own, of which it may name none")
    func clientProviders() throws {
        let text = """
            projects:
              - number: 1
                id: a
                apps:
                  - id: 1:1:ios:a
                    providers: {x: {}, y: {}}
                oauth_clients:
                  - {id: shares, app: '1:1:ios:a'}
                  - {id: own, app: '1:1:ios:a', providers: {z: {}}}
                  - {id: none, app: '1:1:ios:a', providers: {}}
                  - {id: blank, app: '1:1:ios:a', providers: null}
            """
        let policies = try PolicySet.load([PolicyFile(name: "a.yaml", text: text)])
        #expect(policies.apps.dropFirst().map { $0.providers.map(\.name) } == [["x", "y"], ["z"], [], []])
    }

    @Test("Several files are one set, in the order of their names")
    func severalFiles() throws {
        try withFolder { folder in
            try Data("projects: [{number: 2, id: b, apps: [{id: '1:2:ios:b'}]}]".utf8).write(to: folder / "b.yaml")
            try Data("projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a'}]}]".utf8).write(to: folder / "a.yml")
            try Data("this is no policy".utf8).write(to: folder / "notes.txt")
            try Data("neither: is this".utf8).write(to: folder / ".hidden.yaml")
            let policies = try PolicyDirectory(folder.path).load()
            #expect(policies.apps.map(\.identity.subject) == ["1:1:ios:a", "1:2:ios:b"])
        }
    }

    @Test("A policy file is read whether its ending is in capitals or not")
    func capitals() throws {
        try withFolder { folder in
            let names = ["a.YAML", "b.Yml", "c.yAmL", "d.yml", "e.yaml.bak", "f.yaml~", "yaml", "g.xyaml"]
            for (number, name) in names.enumerated() {
                let text = "projects: [{number: \(number + 1), id: p\(number), apps: [{id: '1:\(number + 1):ios:a'}]}]"
                try Data(text.utf8).write(to: folder / name)
            }
            let policies = try PolicyDirectory(folder.path).load()
            #expect(policies.apps.map(\.identity.subject) == ["1:1:ios:a", "1:2:ios:a", "1:3:ios:a", "1:4:ios:a"])
        }
    }

    @Test("A folder that is missing, holds no policy, or holds a folder with a policy's name is refused")
    func badFolders() throws {
        try withFolder { folder in
            let missing = try #require(throws: Diagnostics.self) { try PolicyDirectory("\(folder.path)/none").load() }
            #expect(missing.description.contains("No such file"))
            let empty = try #require(throws: Diagnostics.self) { try PolicyDirectory(folder.path).load() }
            #expect(empty.description.contains("has no policy"))
            try FileManager.default.createDirectory(
                at: folder / "a.yaml", withIntermediateDirectories: false)
            let odd = try #require(throws: Diagnostics.self) { try PolicyDirectory(folder.path).load() }
            #expect(odd.description.contains("not a regular file"))
        }
    }

    @Test("A file without a byte may be just being written, and is refused; one of comments says nothing")
    func emptyFile() throws {
        try withFolder { folder in
            try Data("projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a'}]}]".utf8).write(to: folder / "a.yaml")
            try Data().write(to: folder / "b.yaml")
            let empty = try #require(throws: Diagnostics.self) { try PolicyDirectory(folder.path).load() }
            #expect(empty.description.contains("b.yaml") && empty.description.contains("is empty"), "\(empty)")
            try Data("# nothing yet\n".utf8).write(to: folder / "b.yaml")
            #expect(try PolicyDirectory(folder.path).load().apps.count == 1)
        }
    }

    @Test("A section of a plugin knows its place")
    func sections() throws {
        struct Configuration: Decodable {
            let size: Int
        }
        let text = """
            projects:
              - number: 1
                id: a
                apps:
                  - id: 1:1:ios:a
                    providers:
                      x:
                        token_ttl: 1h
                        size: big
                        sise: 5
            """
        let policies = try PolicySet.load([PolicyFile(name: "a.yaml", text: text)])
        let section = try #require(policies.apps.first?.providers.first?.section)
        let error = try #require(throws: Diagnostics.self) { try section.decode(Configuration.self) }
        #expect(error.all.first?.location.map { "\($0)" } == "a.yaml:9:19")
        #expect(error.all.first?.path == "projects[0].apps[0].providers.x.size")
        let own = section.diagnostics(for: ConfigurationError(at: ["sise"], "no"))
        #expect(own.all.first?.location.map { "\($0)" } == "a.yaml:10:19")
        #expect(section.unknownProvider(known: ["y"]).all.first?.location.map { "\($0)" } == "a.yaml:7:11")
    }

    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }
}

private func / (folder: URL, name: String) -> URL {
    folder.appendingPathComponent(name)
}
