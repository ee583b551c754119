import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayPolicyTools
import AssayStandard
import AssayTesting
import AssayYAML
import Foundation
import Logging
import Testing

/// What an unfinished edit leaves: a key with nothing behind it.
///
/// What holds without the key is often more than what was written before, such as all projects in the place of one.
@Suite("A key without a value")
struct EmptyValueTests {
    /// One key in each line.
    private static let policy = """
        version: 1
        revision: "7"
        tokens:
          algorithm: RS256
          rsa_bits: 2048
        profiles:
          base:
            token_ttl: 1h
          ios:
            extends: base
            apple:
              team_id: ABCDE12345
        issuers:
          login:
            issuer: https://login.example.com/
            audiences: [assay]
            jwks: https://login.example.com/jwks
        apple_teams:
          ABCDE12345:
            device_check:
              key_id: ABC123DEFG
              private_key: file:/nowhere/key.p8
        callers:
          backend:
            sha256: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
            permissions: [admin]
            projects: [example-project]
          deployer:
            jwt:
              extends: login
              subjects: [deployer@example.com]
            permissions: [admin]
            projects: [example-project]
        deny:
          - jti: q3
            until: 2036-01-01T00:00:00Z
            note: a thief
            app: 1:1234567890:ios:a1
        projects:
          - number: 1234567890
            id: example-project
            stage: development
            issuer: https://firebaseappcheck.googleapis.com/
            verification:
              accept_development: true
              consumption: separate
            services:
              firestore.googleapis.com:
                enforcement: UNENFORCED
                replay_protection: OFF
                editable: true
            consumers:
              custom_backend:
                tokens:
                  accept_development: true
                  enforcement: ENFORCED
                backends:
                  orders:
                    tokens:
                      enforcement: ENFORCED
                      limited_use: true
                    original_request: x-original
                    routes:
                      - path: /payments/*
                        methods: [POST]
                        tokens:
                          limited_use: true
              oauth_client:
                authorization_servers: [https://login.example.com]
                clients:
                  1:1234567890:ios:a1: example-ios
                attester:
                  ttl: 24h
                introspection:
                  accept_development: true
              fleet_engine:
                account: file:/nowhere/account.json
                actors: [login]
                roles:
                  driver:
                    vehicle:
                      claim: vehicle_id
            apps:
              - id: 1:1234567890:ios:a1
                profile: ios
                name: Example
                rate_limit:
                  requests: 10
                  interval: 1s
                  burst: 20
                apple:
                  bundle_id: com.example.app
                rules:
                  - name: old-ios
                    when:
                      os_version:
                        below: "17.0"
                    then: refuse
                    enforcement: shadow
                providers:
                  app_attest:
                    token_ttl: 1h
                    environments: [production]
                    receipts: required
                    shadow:
                      environments: [development]
                  device_check:
                    refuse_when:
                      bit0: true
                  debug:
                    tokens:
                      - name: laptop
                        token: env:NOWHERE
                        expires: 2036-01-01T00:00:00Z
                    managed:
                      limit: 20
        """

    /// The mappings whose keys are names: a name alone has a meaning, or its reader says what is missing.
    private static let names = [
        "callers", "profiles", "issuers", "apple_teams", "ABCDE12345", "providers", "consumers", "backends",
        "clients",
    ]

    struct Case: Sendable, CustomTestStringConvertible {
        let path: [String]
        let line: Int
        let text: String
        var testDescription: String { path.joined(separator: ".") }
    }

    /// The policy with one key's value left out at a time.
    private static let cases: [Case] = {
        let lines = policy.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        func indent(_ line: String) -> Int { line.prefix { $0 == " " || $0 == "-" }.count }
        var parents: [(indent: Int, key: String)] = []
        return lines.indices.map { index in
            let line = lines[index]
            let depth = indent(line)
            let colon = line.range(of: ": ")?.lowerBound ?? line.index(before: line.endIndex)
            let key = String(line[line.index(line.startIndex, offsetBy: depth)..<colon])
            parents.removeAll { $0.indent >= depth }
            parents.append((depth, key))
            let below = lines[(index + 1)...].prefix { indent($0) > depth }
            let changed = lines[..<index] + [String(line[...colon])] + lines[(index + 1 + below.count)...]
            return Case(path: parents.map(\.key), line: index + 1, text: changed.joined(separator: "\n"))
        }
    }()

    private static let registry = Result { try Registry(.standard) }

    private static func problems(_ text: String) throws -> [Diagnostic] {
        let registry = try registry.get()
        do throws(Diagnostics) {
            _ = try PolicyTests(
                [], of: .read([PolicyFile(name: "a.yaml", text: text)]), registry: registry, simulators: [])
            return []
        } catch {
            return error.all
        }
    }

    private static func bindingProblems(_ text: String) throws -> [Diagnostic] {
        let registry = try registry.get()
        let clock = ManualClock()
        let host = PluginHost(
            clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        do throws(Diagnostics) {
            _ = try PolicySet.read([PolicyFile(name: "a.yaml", text: text)]).check(registry, host: host)
            return []
        } catch {
            return error.all
        }
    }

    @Test("The policy of these tests is right")
    func whole() throws {
        let problems = try Self.problems(Self.policy)
        #expect(problems.isEmpty, "\(problems)")
        #expect(Self.cases.count > 100)
    }

    @Test("It is refused in its line wherever keys have meanings", arguments: cases)
    func refused(_ test: Case) throws {
        if let parent = test.path.dropLast().last, Self.names.contains(parent) { return }
        // The kernel's own keys of a consumer are read when it is bound, with the rest that needs secrets.
        let problems = try Self.problems(test.text) + Self.bindingProblems(test.text)
        #expect(
            problems.contains { $0.location?.line == test.line && $0.severity == .error },
            "\(test.path): \(problems)")
    }

    @Test("`null` says that there is none, as if the key were left out")
    func null() throws {
        let text = Self.policy.replacing("projects: [example-project]", with: "projects: null")
        #expect(try Self.problems(text).isEmpty)
    }
}
