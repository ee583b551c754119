import AssayCore
import AssayKit
import AssayPolicy
import AssayYAML
import Testing

@Suite("What the kernel judges in sections of plugins by what their types declare")
struct SectionLintTests {
    private struct Section: DescribedConfiguration, Decodable {
        static let keys: [ExactText: PolicyKey] = [
            "endpoint": "Where.", "mirror": PolicyKey("Where else.", development: .none),
            "test_root": PolicyKey("A root.", development: .anyValue),
            "environments": PolicyKey("Which.", development: .words(["development", "true"])),
            "providers": PolicyKey("Whose.", names: .providers), "apps": PolicyKey("Whose.", names: .apps),
            "limits": PolicyKey("By app.", names: .apps),
        ]
        let endpoint: String?
        let mirror: String?
        let testRoot: String?
        let environments: [String]?
        let providers: [String]?
        let apps: [String]?
        let limits: [String: Int]?
        let inner: [Inner]?

        enum CodingKeys: String, CodingKey {
            case endpoint, mirror, environments, providers, apps, limits, inner
            case testRoot = "test_root"
        }
    }

    private struct Inner: Decodable {
        let url: String?
        let inner: [Inner]?
    }

    private static let names = SectionLint.Names(
        providers: ["app_attest", "debug", "other"], usedProviders: ["app_attest"], apps: ["1:1:ios:a"])

    /// The messages about a section, those of warnings with a mark.
    private func messages(
        _ section: String, production: Bool = false, names: SectionLint.Names? = nil
    ) throws -> [String] {
        let text = "projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a', providers: {x: \(section)}}]}]"
        let policies = try PolicySet.load([PolicyFile(name: "a.yaml", text: text)])
        let provider = try #require(policies.apps.first?.providers.first)
        let (problems, warnings) = (DiagnosticSink(), DiagnosticSink())
        var lint = SectionLint(refusesDevelopment: production, problems: problems, warnings: warnings)
        lint.check(provider.section, of: Section.self, names: names)
        func list(_ sink: DiagnosticSink, _ mark: String) -> [String] {
            (sink.diagnostics?.all ?? []).map { diagnostic in
                let path = diagnostic.path.dropping(prefix: "projects[0].apps[0].providers.") ?? diagnostic.path
                return "\(mark)\(path): \(diagnostic.message)"
            }
        }
        return list(problems, "") + list(warnings, "warning: ")
    }

    @Test("Nothing is looked at where neither production nor names are asked for")
    func nothing() throws {
        #expect(try messages("{endpoint: 'http://localhost', providers: [nobody]}").isEmpty)
    }

    @Test(
        "For production what is for development is refused at its place, and nothing else",
        arguments: [
            ("{endpoint: 'https://example.com', environments: [production]}", nil),
            ("{endpoint: 'http://localhost:1'}", "x.endpoint: `localhost` is this machine"),
            ("{mirror: 'http://localhost:1'}", nil),
            ("{test_root: anything}", "x.test_root: `test_root` is for development"), ("{test_root: }", nil),
            ("{environments: [production, DEVELOPMENT]}", "x.environments[1]: `DEVELOPMENT` is for development"),
            ("{environments: true}", "x.environments: `environments: true` is for development"),
            ("{unknown: {deep: ['https://127.1/']}}", "x.unknown.deep[0]: `127.1` is this machine"),
            ("{inner: [{inner: [{url: 'https://[::1]/'}]}]}", "x.inner[0].inner[0].url: `::1` is this machine"),
        ])
    func production(_ section: String, _ expected: String?) throws {
        let found = try messages(section, production: true)
        if let expected {
            #expect(found.count == 1 && found.allSatisfy { $0.starts(withExactly: expected) }, "\(found)")
        } else {
            #expect(found.isEmpty, "\(found)")
        }
    }

    @Test(
        "A name that no policy and no program has is refused; as a key of a mapping as well as in a list",
        arguments: [
            ("{providers: [app_attest], apps: ['1:1:ios:a'], limits: {'1:1:ios:a': 5}}", [String]()),
            ("{providers: [app_attest, debgu]}", ["x.providers[1]: unknown provider `debgu`"]),
            ("{apps: ['1:1:ios:b']}", ["x.apps[0]: unknown app or OAuth client `1:1:ios:b` in this project"]),
            ("{limits: {nobody: 5}}", ["x.limits.nobody: unknown app or OAuth client `nobody` in this project"]),
            (
                "{providers: [debug, other]}",
                ["warning: x.providers: no app of the project has any of these providers: every token is refused here"]
            ),
            ("{providers: [debug, app_attest]}", []), ("{providers: []}", []),
            ("{providers: [a, b]}", ["x.providers[0]: unknown provider `a`", "x.providers[1]: unknown provider `b`"]),
        ])
    func names(_ section: String, _ expected: [String]) throws {
        #expect(try messages(section, names: Self.names) == expected)
    }

    @Test("Where not all apps are known, no app is called unknown, and no list of providers questionable")
    func incomplete() throws {
        let names = SectionLint.Names(providers: ["debug"], usedProviders: nil, apps: nil)
        #expect(try messages("{apps: [any], limits: {any: 1}, providers: [debug]}", names: names).isEmpty)
        #expect(try messages("{providers: [none]}", names: names) == ["x.providers[0]: unknown provider `none`"])
    }
}
