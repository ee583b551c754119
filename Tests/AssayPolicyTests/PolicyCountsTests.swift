import AssayPolicy
import Testing

@Suite("How much policies say")
struct PolicyCountsTests {
    private func counts(_ project: String, callers: String = "{}") throws -> PolicyCounts {
        let text = "{callers: \(callers), projects: [{number: 1, id: one, \(project)}]}"
        return PolicyCounts(try PolicySet.load([PolicyFile(name: "a.yaml", text: text)]))
    }

    private static let full = """
        apps: [{id: '1:1:ios:a', providers: {debug: {tokens: [1, 2, 3]}}}, {id: '1:1:ios:b', providers: {debug: {}}}], \
        oauth_clients: [{id: c, app: '1:1:ios:a'}], consumers: {backend: {services: [a, b], mode: x}}
        """

    @Test("What has become less is named with both numbers, in the order of the policies")
    func losses() throws {
        let before = try counts(Self.full)
        let after = try counts(
            """
            apps: [{id: '1:1:ios:a', providers: {debug: {tokens: [1, 2]}}}], \
            consumers: {backend: {services: [a], mode: x}}
            """)
        let losses = after.losses(since: before)
        #expect(losses.first == "apps 2 to 1")
        #expect(losses.dropFirst().first == "oauth_clients 1 to 0")
        #expect(losses.contains { $0.hasPrefix("debug ") })
        #expect(losses.contains { $0.hasPrefix("backend of projects/one ") })
        #expect(after.servesApps)
    }

    @Test("What limits callers counts, and so do services that are enforced")
    func limits() throws {
        let services = "services: {orders: {enforcement: %}, firestore.googleapis.com: {enforcement: ENFORCED}}"
        let before = try counts(
            services.replacing("%", with: "ENFORCED"),
            callers:
                "{a: {sha256: x, permissions: [admin], projects: [one]}, b: {jwt: {subjects: [s], claims: {c: d}}}}")
        let after = try counts(
            services.replacing("%", with: "UNENFORCED"),
            callers: "{a: {sha256: x, permissions: [admin]}, b: {jwt: {subjects: [s]}}}")
        let losses = after.losses(since: before)
        #expect(losses.contains("settings of the caller a 3 to 2"))
        #expect(losses.contains("settings of the caller b 2 to 1"))
        #expect(losses.contains("enforced services of projects/one 2 to 1"))
    }

    @Test("The same and more are no loss, and what is new is none either")
    func gains() throws {
        let (less, full) = (try counts("apps: [{id: '1:1:ios:a'}]"), try counts(Self.full))
        #expect(full.losses(since: full).isEmpty)
        #expect(full.losses(since: less).isEmpty)
    }

    @Test("A part that is gone altogether counts as none, and a project without apps serves nobody")
    func gone() throws {
        let nobody = try counts("apps: []")
        #expect(!nobody.servesApps)
        let losses = nobody.losses(since: try counts(Self.full))
        #expect(losses.contains { $0.hasPrefix("backend of projects/one ") && $0.hasSuffix(" to 0") })
    }

    @Test("What protects apps counts: rules, their conditions, rate limits, captures and entries of the deny list")
    func protections() throws {
        func counts(_ text: String) throws -> PolicyCounts {
            PolicyCounts(try PolicySet.load([PolicyFile(name: "a.yaml", text: text)]))
        }
        let before = try counts(
            """
            deny: [{jti: a}, {jti: b}, {jti: c}]
            projects:
              - number: 1
                id: one
                apps:
                  - id: "1:1:ios:a"
                    rate_limit: {requests: 5}
                    capture: all
                    rules: [{name: a, when: {provider: x, b: 1}, then: mark}, {name: c, when: {d: 1}, then: mark}]
                  - {id: "1:1:ios:b", rate_limit: {requests: 5}, rules: [{name: a, then: mark}]}
                oauth_clients: [{id: c, app: "1:1:ios:a"}]
            """)
        let after = try counts(
            """
            deny: [{jti: a}]
            projects:
              - number: 1
                id: one
                apps:
                  - {id: "1:1:ios:a", rules: [{name: c, when: {d: 1}, then: mark}]}
                  - {id: "1:1:ios:b", rate_limit: {requests: 5}, capture: none}
                oauth_clients: [{id: c, app: "1:1:ios:a"}]
            """)
        #expect(
            after.losses(since: before) == [
                "rules 3 to 1", "conditions of rules 3 to 1", "rate_limit 2 to 1", "capture 1 to 0", "deny 3 to 1",
            ])
        #expect(before.losses(since: after) == [])
    }

    @Test("No more than 16 losses are told")
    func bound() throws {
        let many = (0..<40).map { "p\($0): {a: [1, 2]}" }.joined(separator: ", ")
        let before = try counts("apps: [{id: '1:1:ios:a', providers: {\(many)}}]")
        #expect(try counts("apps: [{id: '1:1:ios:a'}]").losses(since: before).count == 16)
    }
}
