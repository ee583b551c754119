import AssayCore
import AssayCrypto
import AssayKit
import AssayTestSupport
import AssayTesting
import AssayVerifier
import Logging
import Testing

/// A backend whose issuer's server answers as a test says, by a clock that stands still.
struct VerifierScene: Sendable {
    static let url = EndpointURL("https://assay.example.com/v1/jwks")
    static let app = "1:1234567890:ios:321abc456def7890"

    let clock = ManualClock()
    let http: ScriptedHTTP
    let verifier: AppCheckVerifier

    init(
        _ answers: [ScriptedHTTP.Answer], cacheLimit: Int = 0,
        requirements change: (inout TokenRequirements) -> Void = { _ in }
    ) throws {
        http = ScriptedHTTP(answers)
        var requirements = TokenRequirements(
            issuer: "https://firebaseappcheck.googleapis.com/1234567890", audience: "projects/example-project")
        change(&requirements)
        verifier = AppCheckVerifier(
            keySet: try #require(Self.url), requirements: requirements, cacheLimit: cacheLimit,
            http: http, clock: clock.hostClock,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    /// The code of what a token is refused for; nil when it is good.
    func reason(_ token: String?) async throws -> String? {
        switch try await verifier.verify(token) {
        case .verified: nil
        case .refused(let reason): reason.code
        }
    }
}

/// A key of an issuer.
struct TestKey: Sendable {
    let id: String
    let key: PrivateKey

    init(_ id: String = "k1") throws {
        self.id = id
        key = try .generate(.ec(.p256))
    }

    /// A token that is good at a time, but for the claims that a test sets; null takes one away.
    func token(at now: Instant, _ changes: JSON = [:]) throws -> String {
        var claims: [(String, JSON)] = [
            ("sub", .string(VerifierScene.app)), ("aud", ["projects/1234567890", "projects/example-project"]),
            ("provider", "app_attest"), ("iss", "https://firebaseappcheck.googleapis.com/1234567890"),
            ("exp", .integer(now.seconds + 3600)), ("iat", .integer(now.seconds)), ("jti", "an identifier"),
        ]
        for member in changes.members ?? [] {
            claims.removeAll { $0.0 == member.name }
            if member.value != .null { claims.append((member.name, member.value)) }
        }
        let payload = JSON.object(claims.map { JSONMember($0.0, $0.1) })
        return try JWSSigner(key: key, keyID: id, algorithm: .es256).sign(payload: payload.encoded)
    }

    static func document(_ keys: TestKey..., age: Int = 3600, tag: String? = nil) -> ScriptedHTTP.Answer {
        let set = JWKSet(keys.map { JWK(signing: $0.key.publicKey, keyID: $0.id) })
        let headers =
            [OutboundHeader("Cache-Control", "max-age=\(age)")] + (tag.map { [OutboundHeader("ETag", $0)] } ?? [])
        return .success(OutboundResponse(status: 200, headers: headers, body: set.json.encoded))
    }

    static let unreachable = ScriptedHTTP.Answer.failure(OutboundFailure(.cannotConnect, "down"))
}
