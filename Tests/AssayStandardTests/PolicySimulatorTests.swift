import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayPolicyTools
import AssayStandard
import AssayTesting
import AssayYAML
import Testing

@Suite("Simulated devices for tests of policies")
struct PolicySimulatorTests {
    private static let suites = Result { try [any EvidenceSimulator].standard }

    private static let policy = """
        projects:
          - number: 1234567890
            id: example-project
            apps:
              - id: 1:1234567890:ios:a1
                apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                providers:
                  app_attest: {receipts: required, validation_categories: [app_store, test_flight], unreported_validation_category: allowed}
                  device_check: {key_id: ABC123DEFG, private_key: "file:/nowhere/key.p8", refuse_when: {bit0: true, bit1: true}}
                  custom:
                    service_accounts:
                      - {email: tokens@example.iam.gserviceaccount.com, key_file: "file:/nowhere/account.json"}
                      - {key_file: "env:NOWHERE"}
                    issuers:
                      - {issuer: "https://login.example.com/", audiences: [assay], jwks: "https://login.example.com/jwks", subjects: [backend], claims: {app.kind: ios}, app_claim: app.id}
                      - {issuer: "https://other.example.com/", audiences: [assay], jwks: "file:/nowhere/jwks.json"}
                  debug:
                    tokens:
                      - {name: laptop, token: "env:NOWHERE"}
                      - {name: old, sha256: "\(String(repeating: "a", count: 64))", expires: "2026-01-01T00:00:00Z"}
                    managed: {}
        """

    private static func run(_ test: String, of policy: String = policy) async throws -> PolicyTestResult? {
        let text = "tests: [{name: a, app: \"1:1234567890:ios:a1\", \(test)}]"
        let tests = try PolicyTests(
            [PolicyFile(name: "a_test.yaml", text: text)], of: .read([PolicyFile(name: "a.yaml", text: policy)]),
            registry: Registry(.standard), simulators: suites.get(), now: Instant(seconds: 1_795_262_400))
        return try await tests.run().results.first
    }

    private static let assertion = "provider: app_attest, method: exchangeAppAttestAssertion"

    @Test(
        "A genuine device is accepted, whatever the test says of it that policies accept",
        arguments: [
            "provider: app_attest, device: {}", "provider: app_attest, device: {family: macos}",
            "provider: app_attest, device: {os_version: \"26.4\", environment: production}",
            "provider: app_attest, device: {bundle_version: \"7.1\", validation_category: test_flight}",
            "provider: app_attest, device: {team_id: ABCDE12345, bundle_id: com.example.app}, limited_use: true",
            "provider: app_attest, device: {}, at: 2029-02-03T04:05:06Z",
            "\(assertion), device: {}", "\(assertion), device: {key_age: 400d}", "provider: device_check, device: {}",
            "provider: device_check, device: {bit0: true}", "provider: custom, device: {}",
            "provider: custom, device: {account: tokens@example.iam.gserviceaccount.com}",
            "provider: custom, device: {account: account-1@simulated.example}",
            "provider: custom, device: {issuer: \"https://login.example.com/\"}",
            "provider: custom, device: {issuer: \"https://other.example.com/\", subject: anyone}",
            "provider: debug, device: {}", "provider: debug, device: {name: laptop}",
        ])
    func genuine(test: String) async throws {
        let result = try await Self.run("\(test), expect: {verdict: accepted}")
        guard case .passed? = result?.outcome else {
            Issue.record("\(String(describing: result?.outcome)) \(result?.finding?.explanation ?? "")")
            return
        }
    }

    @Test(
        "What policies do not accept, and evidence that was changed, is refused for its reason",
        arguments: [
            ("provider: app_attest, device: {environment: development}", "environment_not_allowed"),
            ("provider: app_attest, device: {bundle_id: com.example.other}", "app_id_mismatch"),
            ("provider: app_attest, device: {team_id: OTHER12345}", "app_id_mismatch"),
            ("provider: app_attest, device: {validation_category: enterprise}", "validation_category_not_allowed"),
            ("provider: app_attest, device: {}, change: {challenge: replay}", "challenge_already_used"),
            ("provider: app_attest, device: {}, change: {challenge: forged}", "challenge_forged"),
            ("provider: app_attest, device: {}, change: {challenge: expired}", "challenge_expired"),
            ("provider: app_attest, device: {}, change: {certificate: untrusted}", "intermediate_not_by_root"),
            ("provider: app_attest, device: {}, change: {attestation: altered}", "nonce_mismatch"),
            ("provider: app_attest, device: {}, change: {receipt: missing}", "receipt_missing"),
            ("provider: app_attest, device: {}, change: {receipt: other_device}", "receipt_key_mismatch"),
            ("provider: app_attest, device: {app_id_prefix: FGHIJ67890}", "app_id_mismatch"),
            ("\(assertion), device: {environment: development}", "environment_not_allowed"),
            ("\(assertion), device: {}, change: {challenge: replay}", "challenge_already_used"),
            ("\(assertion), device: {key_age: 1d}, change: {challenge: expired}", "challenge_expired"),
            ("\(assertion), device: {}, change: {counter: replay}", "counter_not_advanced"),
            ("\(assertion), device: {}, change: {key: other}", "assertion_signature_invalid"),
            ("\(assertion), device: {}, change: {assertion: altered}", "assertion_signature_invalid"),
            ("\(assertion), device: {}, change: {artifact: altered}", "artifact_invalid"),
            ("provider: device_check, device: {bit0: true, bit1: true}", "device_token_bits_refused"),
            ("provider: device_check, device: {}, change: {token: replay}", "device_token_reused"),
            ("provider: device_check, device: {}, change: {token: unknown}", "device_token_refused"),
            ("provider: custom, device: {account: stranger@example.com}", "custom_token_issuer"),
            ("provider: custom, device: {issuer: \"https://stranger.example.com/\"}", "custom_token_issuer"),
            (
                "provider: custom, device: {issuer: \"https://login.example.com/\", subject: stranger}",
                "custom_token_claim"
            ),
            ("provider: custom, device: {app_id: \"1:1234567890:ios:b2\"}", "custom_token_for_another_app"),
            ("provider: custom, device: {ttl: 1m}", "custom_token_claim"),
            ("provider: custom, device: {}, change: {token: altered}", "custom_token_signature"),
            ("provider: custom, device: {}, change: {token: other_key}", "custom_token_signature"),
            ("provider: custom, device: {}, change: {token: expired}", "custom_token_expired"),
            ("provider: debug, device: {name: old}", "debug_token_expired"),
            ("provider: debug, device: {name: nobody}", "debug_token_unknown"),
            ("provider: debug, device: {}, change: {token: unknown}", "debug_token_unknown"),
        ])
    func refused(test: String, reason: String) async throws {
        let result = try await Self.run("\(test), expect: {verdict: refused, reason: \(reason)}")
        guard case .passed? = result?.outcome else {
            Issue.record("\(String(describing: result?.outcome)) \(result?.finding?.explanation ?? "")")
            return
        }
    }

    @Test(
        "Whatever is changed in the section of a provider, a test with a device fails",
        arguments: [
            (
                "provider: app_attest, device: {environment: development}", "environment_not_allowed",
                "receipts: required", "environments: [production, development]"
            ),
            (
                "provider: app_attest, device: {}, change: {receipt: altered}", "receipt_signature_invalid",
                "receipts: required", "receipts: recorded"
            ),
            (
                "provider: app_attest, device: {validation_category: enterprise}", "validation_category_not_allowed",
                "[app_store, test_flight]", "[app_store, enterprise]"
            ),
            (
                "provider: device_check, device: {bit0: true, bit1: true}", "device_token_bits_refused",
                "bit1: true", "bit1: false"
            ),
            (
                "provider: device_check, device: {}, change: {token: replay}", "device_token_reused", "refuse_when",
                "allow_reuse: true, refuse_when"
            ),
            (
                "provider: custom, device: {account: backup@example.iam.gserviceaccount.com}", "custom_token_issuer",
                "{email: tokens@", "{email: backup@"
            ),
            (
                "provider: custom, device: {issuer: \"https://login.example.com/\", subject: stranger}",
                "custom_token_claim", "[backend]", "[stranger]"
            ),
            ("provider: debug, device: {name: old}", "debug_token_expired", "2026-01-01", "2028-01-01"),
        ])
    func mutations(test: String, reason: String, old: String, new: String) async throws {
        let text = "\(test), expect: {verdict: refused, reason: \(reason)}"
        let before = try await Self.run(text)
        guard case .passed? = before?.outcome else {
            Issue.record("\(String(describing: before?.outcome)) \(before?.finding?.explanation ?? "")")
            return
        }
        let changed = Self.policy.replacing(old, with: new)
        #expect(changed != Self.policy)
        let after = try await Self.run(text, of: changed)
        guard case .failed? = after?.outcome else {
            Issue.record("\(String(describing: after?.outcome)) \(after?.finding?.explanation ?? "")")
            return
        }
    }

    @Test("A device that a test accepts is refused by a server with the same policies")
    func servers() async throws {
        let policy = """
            tokens: {algorithm: ES256}
            projects:
              - number: 1234567890
                id: example-project
                apps:
                  - id: 1:1234567890:ios:a1
                    apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                    providers: {app_attest: {}}
            """
        let result = try await Self.run("device: {}, expect: {verdict: accepted}", of: policy)
        #expect(result?.finding?.verdict == .accepted)
        let server = try TestEngine(.standard, policy: policy)
        let app = "projects/1234567890/apps/1:1234567890:ios:a1"
        let challenge = try await server.challenge("generateAppAttestChallenge", app)
        let device = SimulatedDevice(authority: try SimulatedAppleCA(at: server.clock.now))
        let keyID = try device.generateKey()
        let attestation = try device.attestKey(
            keyID, clientDataHash: SHA256.hash(challenge),
            app: SimulatedApp(appID: "ABCDE12345.com.example.app", environment: .production), at: server.clock.now)
        let reply = await server.call(
            "exchangeAppAttestAttestation", app,
            [
                "keyId": .string(keyID), "attestationStatement": .string(Base64.encode(attestation)),
                "challenge": .string(Base64.encode(challenge)),
            ])
        guard case .refused(let reason)? = server.record(of: reply)?.outcome else {
            Issue.record("\(reply)")
            return
        }
        #expect(reason.code == "chain_untrusted")
    }
}
