import AssayCore
import AssayKit
import AssayPolicy
import AssayYAML
import Testing

@Suite("The services of a project")
struct ServicePolicyTests {
    private func load(_ project: String) throws -> ProjectPolicy {
        let text = """
            projects:
              - number: 1
                id: example-project
                \(project)
            """
        return try #require(PolicySet.load([PolicyFile(name: "test.yaml", text: text)]).projects.first)
    }

    @Test("Levels, and who may change them, are read; all of it may be left out")
    func good() throws {
        let project = try load(
            """
            verification: {accept_development: true, consumption: separate}
                services:
                  orders.example.com: {enforcement: ENFORCED, replay_protection: UNENFORCED, accept_development: true}
                  places.googleapis.com: {editable: true}
                  oauth2.googleapis.com: {consumption: separate}
                  apart: {consumption: shared, accept_oauth_clients: true}
            """)
        #expect(project.acceptsDevelopment)
        #expect(project.location.line == 2)
        let orders = try #require(project.services.first)
        #expect(orders.id == "orders.example.com")
        #expect(orders.enforcement == .enforced)
        #expect(orders.replayProtection == .unenforced)
        #expect(orders.acceptsDevelopment)
        #expect(!orders.isEditable)
        #expect("\(orders.location)" == "test.yaml:6:7")
        #expect(project.consumption == .separate)
        #expect(project.services.map(\.consumption) == [.shared, .shared, .separate, .shared])
        #expect(project.services.map(\.acceptsOAuthClients) == [false, false, true, true])
        let places = project.services[1]
        #expect(places.enforcement == .off)
        #expect(places.replayProtection == .off)
        #expect(places.isEditable)
        #expect(!places.acceptsDevelopment)
        let bare = try load("")
        #expect(bare.services.isEmpty)
        #expect(!bare.acceptsDevelopment)
        #expect(bare.consumption == .shared)
    }

    @Test(
        "A name that resembles a service of Google is a warning with the name that is meant",
        arguments: [
            ("firestore.googleapi.com", "firestore.googleapis.com"), ("firestore", "firestore.googleapis.com"),
            ("Firestore.GoogleAPIs.com", "firestore.googleapis.com"), ("oauth2.google.com", "oauth2.googleapis.com"),
            ("identitytoolkit.googleapis.con", "identitytoolkit.googleapis.com"),
            ("firestore.googleapis.com", nil), ("orders.example.com", nil), ("firestore.example.com", nil),
        ] as [(String, String?)])
    func resembling(_ name: String, _ meant: String?) throws {
        let text = "projects: [{number: 1, id: a, services: {\(name): {enforcement: ENFORCED}}}]"
        let policies = PolicySet.read([PolicyFile(name: "a.yaml", text: text)])
        #expect(policies.problems == nil)
        #expect(policies.warnings?.all.map(\.hint) == meant.map { ["did you mean `\($0)`?"] })
        #expect(policies.warnings?.all.map(\.message) == meant.map { _ in ["is no service of Google's App Check"] })
    }

    @Test(
        "What is wrong is refused at its place",
        arguments: [
            ("services: {a.example.com: {enforcement: ON}}", "expected one of `OFF`, `UNENFORCED`, `ENFORCED`"),
            ("services: {a.example.com: {enforcement: ENFORCE}}", "did you mean `ENFORCED`"),
            ("services: {a.example.com: {replay_protection: UNENFORCED}}", "where enforcement is OFF"),
            (
                "services: {a.example.com: {enforcement: UNENFORCED, replay_protection: ENFORCED}}",
                "replay protection cannot be ENFORCED"
            ),
            ("services: {a.example.com: {enforced: true}}", "unknown key `enforced`"),
            ("services: {a.example.com: {editable: 1}}", "true or false"),
            ("services: {firestor.googleapis.com: {}}", "did you mean `firestore.googleapis.com`"),
            ("services: {a/b: {}}", "a service's name is"), ("services: {.a: {}}", "a service's name is"),
            ("services: {a: {}, a: {}}", "a"), ("services: []", "a mapping"),
            ("verification: {accept_debug: true}", "unknown key `accept_debug`"),
            ("verification: {consumption: separated}", "did you mean `separate`"),
            ("verification: {consumption: true}", "consumption"),
            ("services: {a.example.com: {consumption: none}}", "expected one of `shared`, `separate`"),
        ])
    func bad(_ project: String, _ words: String) {
        let error = #expect(throws: Diagnostics.self) { try load(project) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("test.yaml:4:") == true)
    }
}
