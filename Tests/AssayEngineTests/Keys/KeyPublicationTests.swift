import AssayCore
import AssayCrypto
import AssayKit
import AssayPolicy
import AssayVerifier
import Testing

@testable import AssayEngine
@testable import AssayServices

@Suite("Keys that were retired verify until their publication ends")
struct KeyPublicationTests {
    private static let start = Instant(seconds: 1_795_262_400)
    private static let moment = Duration.milliseconds(1)
    private let claims = AppCheckClaims(
        issuerPrefix: "https://firebaseappcheck.googleapis.com/",
        app: AppIdentity(
            resource: "projects/1234567890/apps/1:1234567890:ios:ab", kind: .app,
            project: ProjectIdentity(number: "1234567890", id: "example-project"), subject: "1:1234567890:ios:ab"))

    private func reason(_ plan: KeyPlan, _ token: String, at now: Instant) -> String? {
        let expectation = TokenVerifier.Expectation(
            issuer: "https://firebaseappcheck.googleapis.com/1234567890", audience: "projects/1234567890")
        return switch plan.verifier(at: now).verify(token, expectation, now: now) {
        case .verified: nil
        case .refused(let reason): reason.code
        }
    }

    @Test("A key is unknown from the instant on at which it leaves the key set, and not before")
    func end() throws {
        let kind = TokenPolicy(algorithm: .es256)
        var ring = KeyRing()
        try ring.addSealingKey(.active(from: Self.start), randomness: .system)
        let old = try ring.addSigningKey(kind, .active(from: Self.start))
        let retired = Self.start + .seconds(86_400)
        try ring.addSigningKey(kind, .active(from: retired))
        let plan = try KeyPlan(ring)
        let end = retired + KeyRing.publication
        // It lives past the end, as no token of this service does, so that nothing but the key refuses it.
        let token = try TokenIssuer(signer: old.signer()).issue(
            claims, provider: "debug", isForDevelopment: true, lifetime: .seconds(30 * 86_400), limitedUse: false,
            now: Self.start,
            randomness: .system
        ).text
        func isPublished(at now: Instant) -> Bool {
            plan.keySet(at: now)["keys"]?.array?.contains { $0["kid"]?.string == old.id } ?? false
        }
        for now in [Self.start, retired, end - Self.moment] {
            #expect(reason(plan, token, at: now) == nil, "\(now)")
            #expect(isPublished(at: now), "\(now)")
        }
        for now in [end, end + .seconds(86_400)] {
            #expect(reason(plan, token, at: now) == TokenReasons.keyUnknown.code, "\(now)")
            #expect(!isPublished(at: now), "\(now)")
        }
    }
}
