import AssayCore
import AssayKit
import AssayOAuthClient
import AssayPolicy
import AssayYAML
import Testing

@Suite("The section of OAuth clients")
struct SectionTests {
    @Test("mistakes in a section are found at their places, all at once", arguments: mistakes)
    func mistake(section: String, messages: [String]) {
        let error = #expect(throws: Diagnostics.self) {
            try OAuthService("authorization_servers: [https://login.example.com]\n" + section)
        }
        for message in messages {
            #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
        }
        #expect(error?.description.contains("test.yaml:") == true)
    }

    @Test("a part that a section does not have refuses", arguments: parts)
    func absent(part: String, method: String, body: JSON) async throws {
        let lines = OAuthService.section.split(separator: "\n").filter { !$0.hasPrefix("\(part):") }
        let service = try OAuthService(lines.joined(separator: "\n"))
        let token = try await service.token()
        let result =
            method == "exchangeToken"
            ? await service.exchange(token, audience: body["audience"]?.string ?? OAuthService.server)
            : await service.call(method, body, token: token, as: method == "attestClient" ? nil : OAuthService.caller)
        let failure = result.failure
        #expect(failure?.reason == OAuthClientReasons.partAbsent || failure?.oauthError == "invalid_target")
    }

    @Test("every reason has a code of its own, and a sentence")
    func reasons() {
        let all = OAuthClientReasons.all
        #expect(Set(all.map(\.code)).count == all.count)
        #expect(all.allSatisfy { $0.summary.hasSuffix(".") })
    }
}

private let mistakes: [(String, [String])] = [
    ("", ["expected `attester`, `verifier`, `client_assertion`, `introspection` or `ear`"]),
    ("attester: {ttl: 59s}", ["oauth_client.attester.ttl", "from 60s to 2592000s"]),
    ("attester: {ttl: 31d, issuer: \"\"}", ["attester.ttl", "attester.issuer"]),
    ("attester: {ttl: 8d}", ["attester.ttl", "expected 7 days at most without `key`"]),
    ("attester: {key_algorithms: [EdDSA, ES256]}", ["attester.key_algorithms[0]", "ES384"]),
    ("attester: {key_algorithms: []}", ["attester.key_algorithms", "expected at least one"]),
    ("attester: {key: {private_key: raw, key_id: k}}", ["refer to it as env:NAME"]),
    ("attester: {key: {private_key: \"env:ASSAY_NO_SUCH_VARIABLE\", key_id: k}}", ["key.private_key", "is not set"]),
    ("attester: {key: {private_key: \"file:/nonexistent\", key_id: k}}", ["key.private_key"]),
    ("attester: {key: {private_key: \"env:PATH\", key_id: k}}", ["key.private_key", "env:PATH holds no PEM"]),
    ("attester: {key: {private_key: \"env:PATH\", key_id: \"\"}}", ["key.key_id"]),
    ("attester: {}\nclients: {unknown: a}", ["clients.unknown", "unknown app"]),
    ("attester: {}\nclients: {\"1:1234567890:ios:0000000000000002\": \"\"}", ["expected a client ID"]),
    (
        "attester: {}\nclients: {\"1:1234567890:ios:0000000000000002\": 1234567890-abc.apps.example.com}",
        ["is linked to another app"]
    ),
    (
        "verifier: {window: 0s, clock_skew: 301s, challenge_life: 9s, max_age: 0s}",
        ["verifier.window", "verifier.clock_skew", "verifier.challenge_life", "verifier.max_age"]
    ),
    ("client_assertion: {providers: [debgu]}", ["client_assertion.providers[0]", "unknown provider `debgu`"]),
    (
        "ear: {audiences: [https://rp.example.com], providers: {app_attst: {}}}",
        ["ear.providers.app_attst", "unknown provider `app_attst`"]
    ),
    ("verifier: {own: false}", ["expected `own` or `attesters`"]),
    ("verifier: {methods: [none]}", ["verifier.methods[0]", "attestation_pop_jwt"]),
    (
        "verifier: {methods: [], algorithms: [], proof_algorithms: []}",
        ["verifier.methods", "verifier.algorithms", "verifier.proof_algorithms"]
    ),
    ("verifier: {challenge: sometimes}", ["verifier.challenge"]),
    ("verifier: {proof_algorithms: [HS256]}", ["verifier.proof_algorithms[0]"]),
    ("verifier: {resource_servers: [https://login.example.com]}", ["is one of `authorization_servers`, too"]),
    ("verifier: {resource_servers: [a, a]}", ["resource_servers[1]", "it is repeated here"]),
    ("verifier: {resource_servers: []}", ["resource_servers", "expected at least one"]),
    (
        "verifier: {attesters: [\(String(repeating: "{jwks: x}, ", count: 9))]}",
        ["attesters", "at most 8 attesters may be named"]
    ),
    ("verifier: {attesters: [{jwks: x}]}", ["attesters[0].jwks", "expected an https URL"]),
    (
        "verifier: {attesters: [{jwks: \"env:ASSAY_NO_SUCH_VARIABLE\", clients: []}]}",
        ["attesters[0].jwks", "is not set", "attesters[0].clients"]
    ),
    ("verifier: {attesters: [{jwks: \"env:PATH\"}]}", ["env:PATH holds no JSON"]),
    ("client_assertion: {clients: {unknown: ENFORCED}}", ["client_assertion.clients.unknown", "unknown client"]),
    ("client_assertion: {providers: [], max_age: 0s}", ["client_assertion.providers", "client_assertion.max_age"]),
    ("introspection: {accept: true}", ["unknown key `accept`"]),
    (
        "introspection: {}\ntokens: {enforcement: UNENFORCED}",
        ["oauth_client.tokens.enforcement", "has no effect here"]
    ),
    ("ear: {audiences: []}", ["ear.audiences", "expected at least one"]),
    ("ear: {}", ["audiences"]),
    ("ear: {audiences: [a], providers: {custom: {soul: 2}}}", ["ear.providers.custom", "unknown key `soul`"]),
    (
        "ear: {audiences: [a], ttl: 9s, profile: \"\", developer: \"\", build: \"\", policy_ids: []}",
        ["ear.ttl", "ear.profile", "ear.developer", "ear.build", "ear.policy_ids"]
    ),
    (
        "ear: {audiences: [a], providers: {custom: {hardware: 128}}}",
        ["ear.providers.custom.hardware", "from -128 to 127"]
    ),
]

private let parts: [(String, String, JSON)] = [
    ("attester", "attestClient", ["jwk": [:]]), ("attester", "exchangeToken", [:]),
    (
        "verifier", "verifyClientAttestation",
        ["audience": "https://login.example.com", "method": "POST", "uri": "https://login.example.com/token"]
    ),
    ("verifier", "generateAttestationChallenge", ["audience": "https://login.example.com"]),
    (
        "client_assertion", "verifyClientAssertion",
        ["audience": "https://login.example.com", "clientId": "1234567890-abc.apps.example.com"]
    ),
    ("introspection", "introspectToken", ["audience": "https://login.example.com", "token": "x"]),
    ("ear", "exchangeToken", ["audience": "https://relying-party.example.com"]),
]
