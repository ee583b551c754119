import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayPolicyTools
import AssayTesting
import Testing

@testable import AssayCustomToken

@Suite("Captured custom tokens are judged again at the time of their request")
struct CustomTokenReplayTests {
    private static let email = "signer@example-project.iam.gserviceaccount.com"
    private static let made = Instant(milliseconds: 1_795_262_400_000)

    private static func evidence(_ token: String, at time: Instant) -> CapturedEvidence {
        CapturedEvidence(
            decision: DecisionID(text: "01M"), time: time,
            resource: "projects/1234567890/apps/1:1234567890:web:321abc456def7890", provider: "custom",
            method: "exchangeCustomToken", body: ["customToken": .string(token)], outcome: .issued)
    }

    private static func token(_ key: PrivateKey) throws -> String {
        let payload: JSON = [
            "iss": .string(email), "sub": .string(email), "app_id": "1:1234567890:web:321abc456def7890",
            "aud": .string(ServiceAccount.audience), "exp": .integer(made.seconds + 300),
            "iat": .integer(made.seconds),
        ]
        let header: JSON = ["alg": "RS256", "typ": "JWT"]
        let input = Base64.encodeURL(header.encoded) + "." + Base64.encodeURL(payload.encoded)
        return input + "." + Base64.encodeURL(try key.sign(Array(input.utf8), as: .raw))
    }

    private static func replay(_ key: PrivateKey) throws -> EvidenceReplay {
        let pem = String(decoding: try key.publicKey.pem(), as: UTF8.self).replacing("\n", with: "\\n")
        let text = """
            projects:
              - number: 1234567890
                id: example-project
                apps:
                  - id: 1:1234567890:web:321abc456def7890
                    providers: {custom: {service_accounts: [{email: \(email), public_key: "\(pem)"}]}}
            """
        return try EvidenceReplay(
            .load([PolicyFile(name: "a.yaml", text: text)]), registry: Registry([.provider(CustomTokenProvider.self)]))
    }

    @Test("A token that was valid then is valid, however long ago that was; one that had expired is refused")
    func times() async throws {
        let account = try PrivateKey.generate(.rsa(bits: 2048))
        let replay = try Self.replay(account)
        let token = try Self.token(account)
        let valid = await replay.judge(Self.evidence(token, at: Self.made + .seconds(1)))
        #expect(valid.finding == .issued && valid.facts.contains(Fact(.customTokenIssuer, .text(Self.email))))
        let late = await replay.judge(Self.evidence(token, at: Self.made + .seconds(3600)))
        #expect(late.finding == .refused(CustomTokenReasons.expired))
        let again = await replay.judge(Self.evidence(token, at: Self.made + .seconds(1)))
        #expect(again.finding == .issued)
    }

    @Test("Under a policy with another key it is refused")
    func policies() async throws {
        let account = try PrivateKey.generate(.rsa(bits: 2048))
        let evidence = Self.evidence(try Self.token(account), at: Self.made)
        let other = await (try Self.replay(.generate(.rsa(bits: 2048)))).judge(evidence)
        #expect(other.comparison(with: evidence) == .different)
    }
}
