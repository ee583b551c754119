import AssayApple
import AssayCore
import AssayKit
import AssayPolicy
import AssayYAML
import Testing

@Suite("The section `apple` of an app")
struct AppleIdentityTests {
    private static let app = """
        projects:
          - number: 1234567890
            id: example-project
            apps:
              - id: 1:1234567890:ios:321abc456def7890

        """

    private static func policies(_ section: String, _ more: String = "") -> PolicySet {
        PolicySet.read([PolicyFile(name: "policies/a.yaml", text: app + "        apple: \(section)\n\(more)")])
            .reading([AppleIdentity.self])
    }

    @Test("gives the app and its OAuth clients their names at Apple")
    func good() throws {
        let policies = Self.policies(
            "{team_id: ABCDE12345, bundle_id: com.example.app}",
            "    oauth_clients: [{id: client, app: '1:1234567890:ios:321abc456def7890'}]")
        #expect(policies.problems == nil)
        #expect(policies.apps.count == 2)
        for app in policies.apps {
            let identity = try AppleIdentity.of(app.identity, neededBy: "App Attest")
            #expect(identity == AppleIdentity(teamID: "ABCDE12345", bundleID: "com.example.app"))
            #expect(identity.appID == "ABCDE12345.com.example.app")
        }
    }

    @Test("takes a team of digits, which YAML reads as a number")
    func numbers() throws {
        let policies = Self.policies("{team_id: 1234567890, bundle_id: 1}")
        #expect(policies.problems == nil)
        let identity = try #require(policies.apps.first?.identity.platform(AppleIdentity.self))
        #expect(identity == AppleIdentity(teamID: "1234567890", bundleID: "1"))
    }

    @Test("takes an App ID prefix that is not the team, which is the team when absent")
    func prefix() throws {
        let policies = Self.policies("{team_id: ABCDE12345, app_id_prefix: FGHIJ67890, bundle_id: com.example.app}")
        #expect(policies.problems == nil)
        let identity = try #require(policies.apps.first?.identity.platform(AppleIdentity.self))
        #expect(identity.teamID == "ABCDE12345")
        #expect(identity.appID == "FGHIJ67890.com.example.app")
        let same = Self.policies("{team_id: ABCDE12345, app_id_prefix: ABCDE12345, bundle_id: com.example.app}")
        #expect(
            same.apps.first?.identity.platform(AppleIdentity.self)
                == AppleIdentity(teamID: "ABCDE12345", bundleID: "com.example.app"))
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let section: String
        /// `line:column: path: message` of each problem.
        let problems: [String]
        var testDescription: String { name }
    }

    static let cases = [
        Case(
            name: "a team ID in lower case", section: "{team_id: abcde12345, bundle_id: com.example.app}",
            problems: ["6:26: team_id: expected an Apple team ID: ten upper-case letters and digits"]),
        Case(
            name: "a team ID of eleven characters", section: "{team_id: ABCDE123456, bundle_id: com.example.app}",
            problems: ["6:26: team_id: expected an Apple team ID: ten upper-case letters and digits"]),
        Case(
            name: "an App ID prefix of nine characters",
            section: "{team_id: ABCDE12345, app_id_prefix: FGHIJ6789, bundle_id: com.example.app}",
            problems: ["6:53: app_id_prefix: expected an App ID prefix: ten upper-case letters and digits"]),
        Case(
            name: "a bundle ID with a NUL", section: "{team_id: ABCDE12345, bundle_id: \"com.example\\0.app\"}",
            problems: ["6:49: bundle_id: expected a bundle ID such as com.example.app"]),
        Case(
            name: "an empty bundle ID", section: "{team_id: ABCDE12345, bundle_id: ''}",
            problems: ["6:49: bundle_id: expected a bundle ID such as com.example.app"]),
        Case(
            name: "a bundle ID that is too long",
            section: "{team_id: ABCDE12345, bundle_id: \(String(repeating: "a", count: 156))}",
            problems: ["6:49: bundle_id: expected a bundle ID such as com.example.app"]),
        Case(
            name: "both names wrong", section: "{team_id: a, bundle_id: a/b}",
            problems: [
                "6:26: team_id: expected an Apple team ID: ten upper-case letters and digits",
                "6:40: bundle_id: expected a bundle ID such as com.example.app",
            ]),
        Case(
            name: "no names", section: "{}",
            problems: ["6:16: team_id: missing key `team_id`", "6:16: bundle_id: missing key `bundle_id`"]),
        Case(
            name: "an unknown key", section: "{team_id: ABCDE12345, bundle_id: com.example.app, team: A}",
            problems: ["6:66: team: unknown key `team`"]),
        Case(
            name: "a list for the team", section: "{team_id: [ABCDE12345], bundle_id: com.example.app}",
            problems: ["6:26: team_id: expected a string, found a sequence"]),
        Case(
            name: "no mapping", section: "ABCDE12345.com.example.app",
            problems: ["6:16: : expected a mapping, found `ABCDE12345.com.example.app`"]),
    ]

    @Test("is refused at its place", arguments: cases)
    func refused(_ test: Case) throws {
        let policies = Self.policies(test.section)
        let problems = (policies.problems?.all ?? []).map { problem in
            let place = problem.location.map { "\($0)".dropFirst("policies/a.yaml:".count) } ?? ""
            let path = problem.path.replacing("projects[0].apps[0].apple", with: "").drop { $0 == "." }
            return "\(place): \(path): \(problem.message)"
        }
        #expect(problems == test.problems)
        // What providers would say of an app without its names would only hide the mistake.
        #expect(policies.apps.first?.isSound == false)
    }

    @Test("may be `null` for an app of another platform, and not there without a value")
    func absent() throws {
        #expect(Self.policies("").problems?.all.map(\.message) == ["has no value"])
        for policies in [Self.policies("~"), Self.policies("null")] {
            #expect(policies.problems == nil)
            let app = try #require(policies.apps.first)
            #expect(app.isSound)
            let error = #expect(throws: ConfigurationError.self) {
                try AppleIdentity.of(app.identity, neededBy: "DeviceCheck")
            }
            #expect(error?.message == "DeviceCheck needs the app's `apple` section with `team_id` and `bundle_id`")
        }
    }
}
