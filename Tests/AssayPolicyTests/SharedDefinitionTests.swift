import AssayCore
import AssayKit
import AssayPolicy
import AssayYAML
import Testing

/// A platform whose apps share what a team has.
private struct Radio: PlatformSection {
    static let name = "radio"
    static let summary = "What the radio knows the app by."
    static let keys: [ExactText: PolicyKey] = [:]
    static let shared: SharedSection? = SharedSection(
        "radio_teams", by: "team", summary: "What the apps of a team share.")

    let team: String
    let band: Int
}

private struct Settings: Decodable {
    struct Inner: Decodable {
        let low: Int?
        let high: Int?
        let list: [Int]?
    }

    let key: String?
    let inner: Inner?
}

@Suite("Profiles, named issuers, teams, stages, and projects over several files")
struct SharedDefinitionTests {
    private static func read(_ texts: String...) -> PolicySet {
        PolicySet.read(texts.enumerated().map { PolicyFile(name: "\($0.offset + 1).yaml", text: $0.element) })
            .reading([Radio.self], providers: ["debug", "other"])
    }

    private static func problems(_ texts: String...) -> [String] {
        let policies = PolicySet.read(
            texts.enumerated().map { PolicyFile(name: "\($0.offset + 1).yaml", text: $0.element) }
        ).reading([Radio.self], providers: ["debug", "other"])
        return (policies.problems?.all ?? []).map(short)
    }

    /// `file:line:column: path: message`, and the hint.
    private static func short(_ problem: Diagnostic) -> String {
        [problem.location?.description ?? "", problem.path, problem.message, problem.hint ?? ""]
            .filter { !$0.isEmpty }.joined(separator: ": ")
    }

    private static let project = """
        projects:
          - number: 1
            id: example
            apps:

        """

    // MARK: - Profiles

    @Test(
        "An app has what its profile has; mappings are merged, lists and texts are the app's, and null takes a key away"
    )
    func merging() throws {
        let policies = Self.read(
            """
            profiles:
              base:
                radio: {team: A, band: 1}
                token_ttl: 2h
                providers:
                  debug: {key: base, inner: {low: 1, high: 2, list: [1, 2]}}
                  other: {}
              more:
                extends: base
                token_ttl: 3h
                providers: {debug: {inner: {low: 5}}}
            """,
            Self.project + """
                      - {id: "1:1:ios:a", profile: more, radio: {band: 7}, providers: {debug: {inner: {list: [3]}}}}
                      - {id: "1:1:ios:b", profile: base, providers: {debug: null, other: {key: own}}}
                      - {id: "1:1:ios:c", profile: base, rate_limit: {requests: 5}, providers: {}}
                """)
        #expect(policies.problems?.all.map(Self.short) == nil)
        #expect(
            policies.warnings?.all.map(Self.short) == [
                "1.yaml:3:5: projects[0].apps[2].radio: has the same values as in the app `1:1:ios:b`: evidence of one is accepted for the other"
            ])
        let apps = policies.apps
        #expect(apps.map { $0.providers.map(\.name) } == [["debug", "other"], ["other"], ["debug", "other"]])
        let first = try apps[0].providers[0].section.decode(Settings.self)
        #expect(first.key == "base")
        #expect(first.inner?.low == 5)
        #expect(first.inner?.high == 2)
        #expect(first.inner?.list == [3])
        #expect(try apps[2].providers[0].section.decode(Settings.self).inner?.low == 1)
        #expect(apps[0].identity.platform(Radio.self) == Radio(team: "A", band: 7))
        #expect(apps[1].identity.platform(Radio.self) == Radio(team: "A", band: 1))
        #expect(apps.map { $0.providers[0].tokenLifetime } == [.seconds(10_800), .seconds(7200), .seconds(7200)])
        #expect(apps[2].rateLimit?.requests == 5)
    }

    @Test("A key without a value is refused where the profile has one, and a null that takes nothing away is a warning")
    func emptyValues() {
        func read(_ app: String, _ more: String = "") -> PolicySet {
            Self.read(
                "profiles: {base: {token_ttl: 2h, providers: {debug: {key: base}, other: {}}}\(more)}",
                Self.project + "          - {id: '1:1:ios:a', profile: base, \(app)}")
        }
        for (app, path) in [
            ("providers: {debug: }", "projects[0].apps[0].providers.debug"),
            ("providers: ", "projects[0].apps[0].providers"), ("token_ttl: ", "projects[0].apps[0].token_ttl"),
            ("providers: {debug: {key: }}", "projects[0].apps[0].providers.debug.key"),
        ] {
            let problems = read(app).problems?.all ?? []
            #expect(problems.map(\.path) == [path])
            #expect(problems.first?.message == "has no value, and the profile has one")
            #expect(problems.first?.hint?.contains("`null`") == true)
        }
        // Without one in the profile it is what it is without a profile.
        #expect(read("providers: {third: }").problems == nil)
        #expect(
            read("rate_limit: , name: , providers: {debug: {}}").problems?.all.map(\.message)
                == Array(
                    repeating: "has no value", count: 2))
        let inner = read("providers: {}", ", more: {extends: base, providers: {debug: }}")
        #expect(inner.problems == nil, "a profile that no app uses is not checked")
        let extended = Self.read(
            "profiles: {base: {providers: {debug: {key: base}}}, more: {extends: base, providers: {debug: }}}",
            Self.project + "          - {id: '1:1:ios:a', profile: more}")
        #expect(extended.problems?.all.map(\.path) == ["profiles.more.providers.debug"])

        let issuer = Self.read(
            """
            issuers: {login: {issuer: "https://login.example.com", subjects: [a]}}
            callers: {night: {jwt: {extends: login, subjects: , audiences: null}, permissions: [a.read]}}
            """)
        #expect(issuer.problems?.all.map(\.path) == ["callers.night.jwt.subjects"])
        #expect(issuer.warnings?.all.map(\.path) == ["callers.night.jwt.audiences"])

        let useless = read("rate_limit: null, providers: {debug: null, third: {key: null}, other: {key: null}}")
        #expect(
            useless.warnings?.all.filter { $0.message.hasPrefix("takes nothing away") }.map(\.path) == [
                "projects[0].apps[0].rate_limit", "projects[0].apps[0].providers.other.key",
            ])
    }

    @Test(
        "What is wrong with profiles is said at its place, once, however many apps use it",
        arguments: [
            (
                "profiles: {a: {token_ttl: 1s}}",
                ["1.yaml:1:27: projects[0].apps[0].token_ttl: expected a duration from 30m to 7d, in whole seconds"]
            ),
            (
                "profiles: {a: {tokn_ttl: 1h}}",
                ["1.yaml:1:16: projects[0].apps[0].tokn_ttl: unknown key `tokn_ttl`: did you mean `token_ttl`?"]
            ),
            (
                "profiles: {a: {radio: {team: A, band: x}}}",
                ["1.yaml:1:39: projects[0].apps[0].radio.band: expected a whole number, found `x`"]
            ),
            (
                "profiles: {b: {}}",
                [
                    "2.yaml:5:36: projects[0].apps[0].profile: unknown profile `a`: known here: `b`",
                    "2.yaml:6:36: projects[0].apps[1].profile: unknown profile `a`: known here: `b`",
                ]
            ),
            (
                "profiles: {a: {extends: b}, b: {extends: c}, c: {extends: b}}",
                ["1.yaml:1:59: profiles.c.extends: the profile builds on itself: `b`, then `c`, then `b`"]
            ),
            (
                "profiles: {a: {extends: a}}",
                ["1.yaml:1:25: profiles.a.extends: the profile builds on itself: `a`, then `a`"]
            ),
            (
                "profiles: {a: {extends: base}, bass: {}}",
                ["1.yaml:1:25: profiles.a.extends: unknown profile `base`: did you mean `bass`?"]
            ),
            (
                "profiles: {a: {id: \"1:1:ios:a\"}}",
                ["1.yaml:1:16: profiles.a.id: belongs to an app, not to a profile"]
            ),
            (
                "profiles: {a: {profile: b}, b: {}}",
                ["1.yaml:1:16: profiles.a.profile: belongs to an app, not to a profile: did you mean `extends`?"]
            ),
            ("profiles: {a: [1]}", ["1.yaml:1:15: profiles.a: expected a mapping, found a sequence"]),
            ("profiles: [a]", ["1.yaml:1:11: profiles: expected a mapping, found a sequence"]),
            (
                "profiles: {\"a b\": {}, a: {}}",
                ["1.yaml:1:12: profiles[\"a b\"]: a profile's name is 1 to 64 letters, digits, `-`, `.`, `_` and `@`"]
            ),
        ])
    func wrongProfiles(_ text: String, _ expected: [String]) {
        let apps =
            Self.project + """
                      - {id: "1:1:ios:a", profile: a, providers: {debug: {}}}
                      - {id: "1:1:ios:b", profile: a, providers: {debug: {}}}
                """
        #expect(Self.problems(text, apps) == expected)
    }

    @Test("A profile of two files is defined twice, and one that nothing uses is warned of")
    func unused() {
        #expect(
            Self.problems("profiles: {a: {}}", "profiles: {a: {}}")
                == ["2.yaml:1:12: profiles.a: the profile `a` is defined twice"])
        let policies = Self.read("profiles: {a: {tokn: 1}, b: {extends: a}}")
        #expect(policies.problems == nil)
        #expect(
            policies.warnings?.all.map(Self.short) == [
                "1.yaml:1:12: profiles.a: no app uses this profile, so it is not checked",
                "1.yaml:1:26: profiles.b: no app uses this profile, so it is not checked",
            ])
    }

    @Test("Profiles that build on each other without end, or on very many others, cost nothing")
    func longChains() {
        var profiles = "profiles:\n"
        for number in 0..<2000 { profiles += "  p\(number): {extends: p\(number + 1)}\n" }
        let text =
            profiles + "  p2000: {}\n" + Self.project
            + "      - {id: \"1:1:ios:a\", profile: p0, providers: {debug: {}}}\n"
        let problems = Self.problems(text)
        #expect(problems.count == 1)
        #expect(problems.first?.contains("more than 16 profiles build on each other") == true)
    }

    // MARK: - Teams

    @Test("What a team has for a provider lies beneath the section of each app that has the provider and the team")
    func teams() throws {
        let policies = Self.read(
            """
            radio_teams:
              A: {debug: {key: of team A, inner: {low: 1}}}
              B: {debug: {key: of team B}}
            profiles: {radio: {radio: {team: A, band: 1}, providers: {debug: {inner: {high: 2}}}}}
            """,
            Self.project + """
                      - {id: "1:1:ios:a", profile: radio}
                      - {id: "1:1:ios:b", profile: radio, radio: {team: B}}
                      - {id: "1:1:ios:c", profile: radio, radio: {band: 3}, providers: {debug: {key: own}}}
                      - {id: "1:1:ios:d", radio: {team: A, band: 2}, providers: {other: {}}}
                    oauth_clients:
                      - {id: client, app: "1:1:ios:a"}
                      - {id: client2, app: "1:1:ios:a", providers: {debug: {}}}
                """)
        #expect(policies.problems?.all.map(Self.short) == nil)
        let found = try policies.apps.map { app in
            try app.providers.map { try $0.section.decode(Settings.self).key }
        }
        #expect(found == [["of team A"], ["of team B"], ["own"], [nil], ["of team A"], ["of team A"]])
        #expect(policies.warnings == nil)
    }

    @Test("What is wrong with teams is said at its place")
    func wrongTeams() {
        let app = Self.project + "      - {id: \"1:1:ios:a\", radio: {team: A, band: 1}, providers: {debug: {}}}\n"
        #expect(
            Self.problems("radio_team: {A: {}}", app)
                == ["1.yaml:1:1: radio_team: unknown key `radio_team`: did you mean `radio_teams`?"])
        #expect(
            Self.problems("radio_teams: {A: {debag: {}}}", app)
                == ["1.yaml:1:19: radio_teams.A.debag: unknown provider `debag`: did you mean `debug`?"])
        #expect(
            Self.problems("radio_teams: {A: {debug: {token_ttl: 1h}}}", app) == [
                "1.yaml:1:19: radio_teams.A.debug: `token_ttl` has no effect here; an app or a profile can say it"
            ])
        #expect(
            Self.problems("radio_teams: {A: {debug: 5}}", app)
                == ["1.yaml:1:26: radio_teams.A.debug: expected a mapping, found `5`"])
        #expect(
            Self.problems("radio_teams: {A: {}}", "radio_teams: {A: {}}\n" + app)
                == ["2.yaml:1:15: radio_teams.A: `A` is defined twice"])
        #expect(
            Self.read("radio_teams: {A: {other: {}}, C: {}}", app).warnings?.all.map(Self.short) == [
                "1.yaml:1:19: radio_teams.A.other: no app that names `A` has this provider",
                "1.yaml:1:31: radio_teams.C: no app names it, so it is not checked",
            ])
    }

    // MARK: - Issuers

    private struct Actor: Decodable, Equatable {
        let issuer: String
        let audiences: [String]
        let subjects: [String]?
    }

    @Test("An issuer has its place by its name, alone or with further keys")
    func issuers() throws {
        let policies = Self.read(
            """
            issuers:
              login: {issuer: "https://login.example.com/", audiences: [a]}
              staff: {extends: login, subjects: [s]}
            callers:
              one: {jwt: login}
              two: {jwt: {extends: login, audiences: [b]}}
            """,
            """
            projects:
              - number: 1
                id: example
                consumers:
                  c: {actors: [staff, {issuer: other, audiences: []}]}
            """)
        #expect(policies.problems?.all.map(Self.short) == nil)
        #expect(policies.warnings?.all.map(Self.short) == nil)
        struct Consumer: Decodable { let actors: [Actor] }
        struct Caller: Decodable { let jwt: Actor }
        let login = "https://login.example.com/"
        // The kernel's own keys are not the plugin's.
        #expect(
            try policies.projects[0].consumers[0].section.kernelValue("actors", as: [Actor].self) == [
                Actor(issuer: login, audiences: ["a"], subjects: ["s"]),
                Actor(issuer: "other", audiences: [], subjects: nil),
            ])
        #expect(
            try policies.callers.map { try $0.section.decode(Caller.self).jwt } == [
                Actor(issuer: login, audiences: ["a"], subjects: nil),
                Actor(issuer: login, audiences: ["b"], subjects: nil),
            ])
    }

    @Test("What is wrong with issuers is said at its place")
    func wrongIssuers() {
        #expect(
            Self.problems("issuers: {login: {}}\ncallers: {a: {jwt: logn}}")
                == ["1.yaml:2:20: callers.a.jwt: unknown issuer `logn`: did you mean `login`?"])
        #expect(
            Self.problems(
                "issuers: {a: {extends: b}, b: {extends: a}}\ncallers: {c: {jwt: a}}"
            ) == ["1.yaml:1:41: issuers.b.extends: more than 16 issuers build on each other, or one on itself"])
        #expect(
            Self.problems("issuers: {a: {}}", "issuers: {a: {}}")
                == ["2.yaml:1:11: issuers.a: the issuer `a` is defined twice"])
        #expect(
            Self.read("issuers: {a: {}}").warnings?.all.map(Self.short)
                == ["1.yaml:1:11: issuers.a: nothing uses this issuer, so it is not checked"])
    }

    // MARK: - Stages

    @Test("A project for development accepts evidence for development where nothing else is said")
    func stages() throws {
        func project(_ stage: String) throws -> ProjectPolicy {
            let policies = Self.read(
                """
                projects:
                  - number: 1
                    id: example
                    \(stage)
                    services: {orders: {}, bank: {accept_development: false}}
                """)
            #expect(policies.problems == nil)
            return try #require(policies.projects.first)
        }
        let development = try project("stage: development")
        #expect(development.identity.stage == .development)
        #expect(development.acceptsDevelopment)
        #expect(development.services.map(\.acceptsDevelopment) == [true, false])
        for production in [try project("stage: production"), try project("")] {
            #expect(production.identity.stage == .production)
            #expect(!production.acceptsDevelopment)
            #expect(production.services.map(\.acceptsDevelopment) == [false, false])
        }
        #expect(
            Self.problems("projects: [{number: 1, id: example, stage: staging}]")
                == [
                    "1.yaml:1:44: projects[0].stage: expected one of `development`, `production`, found `staging`"
                ])
    }

    // MARK: - Projects over several files

    @Test("Apps and clients of a project may be in several files, in any order")
    func additions() throws {
        let policies = Self.read(
            """
            projects:
              - project: example
                apps: [{id: "1:1:ios:b", providers: {debug: {}}}]
                oauth_clients: [{id: client, app: "1:1:ios:c"}]
            """,
            Self.project + "      - {id: \"1:1:ios:a\", providers: {debug: {}}}\n",
            """
            projects:
              - project: 1
                apps: [{id: "1:1:ios:c", providers: {debug: {}}}]
            """)
        #expect(policies.problems?.all.map(Self.short) == nil)
        #expect(
            policies.apps.map(\.identity.resource) == [
                "projects/1/apps/1:1:ios:a", "projects/1/apps/1:1:ios:b", "projects/1/apps/1:1:ios:c",
                "oauthClients/client",
            ])
        #expect(policies.projects.count == 1)
    }

    @Test("An addition has nothing but apps, and is for a project that there is")
    func wrongAdditions() {
        let whole = Self.project + "      - {id: \"1:1:ios:a\", providers: {debug: {}}}\n"
        #expect(
            Self.problems(whole, "projects: [{project: exampel}]")
                == ["2.yaml:1:22: projects[0].project: unknown project `exampel`: did you mean `example`?"])
        #expect(
            Self.problems(whole, "projects: [{project: 1, stage: development, services: {}}]") == [
                "2.yaml:1:25: projects[0].stage: belongs in the entry that defines the project",
                "2.yaml:1:45: projects[0].services: belongs in the entry that defines the project",
            ])
        #expect(
            Self.problems(whole, "projects: [{project: 1, aps: []}]")
                == ["2.yaml:1:25: projects[0].aps: unknown key `aps`: did you mean `apps`?"])
        #expect(
            Self.problems(whole, "projects: [{project: 1, apps: [{id: \"1:1:ios:a\", providers: {debug: {}}}]}]")
                == ["2.yaml:1:37: projects[0].apps[0].id: the app `1:1:ios:a` is defined twice"])
    }
}
