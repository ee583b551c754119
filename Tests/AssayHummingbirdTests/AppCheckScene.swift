import AssayCore
import AssayCrypto
import AssayHummingbird
import AssayKit
import AssayTestSupport
import AssayTesting
import AssayVerifier
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import Synchronization
import Testing

/// A backend behind the middleware, and an issuer whose clock stands still.
final class AppCheckScene: Sendable {
    struct Context: AppCheckRequestContext {
        var coreContext: CoreRequestContextStorage
        var appCheckToken: VerifiedToken?

        init(source: Source) { coreContext = .init(source: source) }
    }

    /// What the backend replies: what reached it.
    struct Seen: Codable, Equatable {
        var app: String?
        var findings: [String]
    }

    static let app = "1:1234567890:ios:321abc456def7890"
    static let header = "X-Firebase-AppCheck"
    private static let issuer = "https://firebaseappcheck.googleapis.com/1234567890"

    private let key: PrivateKey
    private let clock = ManualClock()
    private let verifier: AppCheckVerifier
    private let recorded = Mutex<[AppCheckOutcome]>([])

    /// - Parameter hasKeys: whether the issuer's keys can be had.
    init(hasKeys: Bool = true) throws {
        key = try .generate(.ec(.p256))
        let set = JWKSet([JWK(signing: key.publicKey, keyID: "k1")])
        let answer: ScriptedHTTP.Answer =
            hasKeys
            ? .success(OutboundResponse(status: 200, headers: [], body: set.json.encoded))
            : .failure(OutboundFailure(.cannotConnect, "down"))
        verifier = AppCheckVerifier(
            keySet: try #require(EndpointURL("https://assay.example.com/v1/jwks")),
            requirements: TokenRequirements(
                issuer: Self.issuer, audience: "projects/1234567890", apps: [ExactText(Self.app)]),
            http: ScriptedHTTP([answer]), clock: clock.hostClock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// What was reported so far: the codes of reasons, and words for the rest.
    var reports: [String] {
        recorded.withLock { outcomes in
            outcomes.map { outcome in
                switch outcome {
                case .verified: "verified"
                case .refused(let reason): reason.code
                case .undecided: "undecided"
                }
            }
        }
    }

    func token(
        app: String = AppCheckScene.app, provider: String = "app_attest", isForDevelopment: Bool = false, age: Int64 = 0
    ) throws -> String {
        let now = clock.now.seconds - age
        var claims = [
            JSONMember("sub", .string(app)), JSONMember("aud", ["projects/1234567890"]),
            JSONMember("provider", .string(provider)), JSONMember("iss", .string(Self.issuer)),
            JSONMember("exp", .integer(now + 3600)), JSONMember("iat", .integer(now)),
            JSONMember("jti", "an identifier"),
        ]
        if isForDevelopment { claims.append(JSONMember("development", true)) }
        return try JWSSigner(key: key, keyID: "k1", algorithm: .es256).sign(payload: JSON.object(claims).encoded)
    }

    /// Sends one request to the backend.
    func send(
        _ fields: [(String, String)] = [], to uri: String = "/orders", mode: EnforcementMode = .enforced,
        consume: (@Sendable (String, VerifiedToken) async throws -> Bool)? = nil
    ) async throws -> TestResponse {
        let router = Router(context: Context.self)
        router.add(
            middleware: AppCheckMiddleware<Context>(verifier, mode: mode, consume: consume) { [self] outcome in
                recorded.withLock { $0.append(outcome) }
            })
        router.get("/orders") { request, context in
            let seen = Seen(
                app: context.appCheckToken?.subject,
                findings: request.headers.map(\.name.canonicalName).filter { $0.contains("app") }.sorted())
            return String(decoding: try JSONEncoder().encode(seen), as: UTF8.self)
        }
        var headers = HTTPFields()
        for (name, value) in fields {
            headers.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        return try await Application(router: router).test(.router) { [headers] client in
            try await client.execute(uri: uri, method: .get, headers: headers)
        }
    }

    static func seen(_ response: TestResponse) throws -> Seen {
        try JSONDecoder().decode(Seen.self, from: Data(String(buffer: response.body).utf8))
    }
}
