import AssayCore
import AssayKit
import AssayPolicy
import AssayYAML
import Testing

/// What a platform of a test knows an app by.
private struct Watch: PlatformSection {
    static let name = "watch"
    static let summary = "What the watch knows the app by."
    static let keys: [ExactText: PolicyKey] = ["model": "The model."]

    static let appPlatforms = ["ios"]

    let model: Int
}

private struct Radio: PlatformSection {
    static let name = "radio"
    static let summary = "What the radio knows the app by."
    static let keys: [ExactText: PolicyKey] = [:]

    let band: Int
}

@Suite("Sections of platforms in apps")
struct PlatformSectionTests {
    private static let app = """
        projects:
          - number: 1
            id: a
            apps:
              - id: 1:1:ios:a

        """

    private static func read(_ more: String, _ platforms: [any PlatformSection.Type] = [Watch.self]) -> PolicySet {
        PolicySet.read([PolicyFile(name: "a.yaml", text: app + more)]).reading(platforms)
    }

    @Test("An app has the sections of all platforms, and none for others")
    func values() throws {
        let app = try #require(
            Self.read("        radio: {band: 2}\n        watch: {model: 7}", [Watch.self, Radio.self]).apps.first)
        #expect(app.identity.platform(Watch.self)?.model == 7)
        #expect(app.identity.platform(Radio.self)?.band == 2)
        let other = try #require(Self.read("        watch: {model: 7}", [Watch.self, Radio.self]).apps.first)
        #expect(other.identity.platform(Radio.self) == nil)
        #expect(app.identity != other.identity)
        #expect(try #require(Self.read("        watch: {model: 7}").apps.first).identity == other.identity)
        #expect(try #require(Self.read("        watch: {model: 8}").apps.first).identity != other.identity)
    }

    @Test(
        "A key that is neither the loader's nor a platform's is refused, with what was perhaps meant",
        arguments: [
            ("        wach: {model: 7}", "6:9", "unknown key `wach`", "did you mean `watch`?"),
            ("        token_tll: 1h", "6:9", "unknown key `token_tll`", "did you mean `token_ttl`?"),
            ("        provider: {x: {}}", "6:9", "unknown key `provider`", "did you mean `providers`?"),
            ("        radio: {band: 2}", "6:9", "unknown key `radio`", nil),
            ("        radio:", "6:9", "unknown key `radio`", nil),
        ] as [(String, String, String, String?)])
    func unknown(_ text: String, _ place: String, _ message: String, _ hint: String?) throws {
        let problems = try #require(Self.read(text).problems?.all)
        #expect(problems.count == 1)
        let problem = try #require(problems.first)
        #expect(problem.location.map { "\($0)" } == "a.yaml:\(place)")
        #expect(problem.message == message)
        if let hint { #expect(problem.hint == hint) }
    }

    @Test("An OAuth client has the sections of its app, whose problems are reported once")
    func clients() throws {
        let client = "\n    oauth_clients: [{id: client, app: '1:1:ios:a'}]"
        let good = Self.read("        watch: {model: 7}" + client)
        #expect(good.problems == nil)
        #expect(good.apps.map { $0.identity.platform(Watch.self)?.model } == [7, 7])
        let bad = Self.read("        watch: {model: x}" + client)
        #expect(bad.problems?.all.map(\.path) == ["projects[0].apps[0].watch.model"])
        #expect(bad.apps.map(\.isSound) == [false, false])
        #expect(bad.apps.map(\.identity.subject) == ["1:1:ios:a", "client"])
        let own = Self.read("        watch: {model: 7}\n    oauth_clients: [{id: client, app: '1:1:ios:a', watch: {}}]")
        #expect(own.problems?.all.map(\.message) == ["unknown key `watch`"])
    }

    @Test("Two apps of a project with the same section, and a section on an app of another platform, are warnings")
    func twice() throws {
        let rest = "        watch: {model: 7}\n        providers: {x: {}}\n"
        func warnings(_ more: String) -> [String] {
            let policies = Self.read(rest + more)
            #expect(policies.problems == nil)
            return (policies.warnings?.all ?? []).map { "\($0.path): \($0.message)" }
        }
        #expect(warnings("      - {id: '1:1:ios:b', watch: {model: 8}, providers: {x: {}}}") == [])
        #expect(
            warnings("      - {id: '1:1:ios:b', watch: {model: 7}, providers: {x: {}}}") == [
                "projects[0].apps[1].watch: has the same values as in the app `1:1:ios:a`: evidence of one is accepted for the other"
            ])
        // Stages of one app are projects.
        #expect(
            warnings(
                "  - {number: 2, id: b, apps: [{id: '1:2:ios:a', watch: {model: 7}, providers: {x: {}}}]}") == [])
        for platform in ["android", "web"] {
            #expect(
                warnings("      - {id: '1:1:\(platform):b', watch: {model: 8}, providers: {x: {}}}") == [
                    "projects[0].apps[1].watch: is for apps of the platform `ios`, and the app ID is one of `\(platform)`"
                ])
        }
        #expect(warnings("      - {id: '1:1:other:b', watch: {model: 8}, providers: {x: {}}}") == [])
    }

    @Test("What else is wrong is still reported")
    func together() {
        let policies = Self.read("        watch: {model: x}\n        token_ttl: 1m\n        radoi: 1")
        #expect(
            policies.problems?.all.map(\.path) == [
                "projects[0].apps[0].watch.model", "projects[0].apps[0].token_ttl", "projects[0].apps[0].radoi",
            ])
    }
}
