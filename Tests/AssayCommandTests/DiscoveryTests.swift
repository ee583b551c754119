import AssayCore
import AssayKit
import AssayTestSupport
import Foundation
import Testing

@Suite("The methods of Google's discovery documents")
struct DiscoveryTests {
    private static let app = "projects/1234567890/apps/1:1234567890:ios:321abc456def7890"
    private static let client = "oauthClients/example-client"
    private static let services = "projects/1234567890/services"
    private static let policies = "\(services)/oauth2.googleapis.com/resourcePolicies"

    /// The HTTP method, the path, and the status of the answer to an empty request.
    private static let both: [(String, String, Int)] =
        [
            ("GET", "jwks", 200), ("POST", "\(app):mintAppCheckToken", 200),
            ("GET", services, 200), ("GET", "\(services)/firestore.googleapis.com", 200),
            ("PATCH", "\(services)/firestore.googleapis.com?updateMask=enforcementMode", 200),
            ("POST", "\(services):batchUpdate", 400), ("GET", policies, 200), ("POST", policies, 400),
            ("GET", "\(policies)/a", 404), ("PATCH", "\(policies)/a?updateMask=enforcementMode", 404),
            ("DELETE", "\(policies)/a", 404), ("POST", "\(policies):batchUpdate", 400),
        ]
        + [app, client].flatMap { resource in
            [
                ("POST", "\(resource):generateAppAttestChallenge", 200),
                ("POST", "\(resource):exchangeAppAttestAttestation", 400),
                ("POST", "\(resource):exchangeAppAttestAssertion", 400),
                ("POST", "\(resource):exchangeDebugToken", 400),
            ]
        }
        + [
            ("GET", "", 200), ("POST", "", 400), ("GET", "/a", 404), ("PATCH", "/a?updateMask=displayName", 400),
            ("DELETE", "/a", 404),
        ].map { ($0.0, "\(app)/debugTokens\($0.1)", $0.2) }
        + config("appAttestConfig", [200, 200, 200])

    private static let betaOnly: [(String, String, Int)] =
        [
            ("POST", "projects/1234567890:verifyAppCheckToken", 400), ("POST", "\(app):exchangeRecaptchaToken", 400),
        ]
        + config("recaptchaConfig", [200, 200, 200])
        + ["\(services)/oauth2.googleapis.com/automations", "\(policies)/a/automations"].flatMap {
            [("GET", $0, 501), ("GET", "\($0)/b", 501), ("PATCH", "\($0)/b?updateMask=state", 501)]
        }

    private static func config(_ name: String, _ statuses: [Int]) -> [(String, String, Int)] {
        [
            ("GET", "\(app)/\(name)", statuses[0]), ("PATCH", "\(app)/\(name)?updateMask=tokenTtl", statuses[1]),
            ("GET", "projects/1234567890/apps/-/\(name):batchGet", statuses[2]),
        ]
    }

    /// What plugins may or may not be there for: a proper answer of the kernel in any case.
    private static let plugins: [(String, String)] =
        [
            ("POST", "\(app):exchangeDeviceCheckToken"), ("POST", "\(app):exchangeCustomToken"),
            ("POST", "\(app):generatePlayIntegrityChallenge"), ("POST", "\(app):exchangePlayIntegrityToken"),
            ("POST", "\(app):exchangeRecaptchaEnterpriseToken"), ("POST", "\(app):exchangeRecaptchaV3Token"),
        ]
        + ["deviceCheckConfig", "playIntegrityConfig", "recaptchaEnterpriseConfig", "recaptchaV3Config"].flatMap {
            config($0, [0, 0, 0]).map { ($0.0, $0.1) }
        }

    @Test("Each of them is answered in v1beta, and those of v1 there, too: none by a path that nobody knows")
    func all() async throws {
        #expect(Self.both.count + Self.plugins.count == 46)
        #expect(Self.both.count + Self.plugins.count + Self.betaOnly.count == 57)
        try await withTemporaryFolder { folder in
            let server = try await AdminServer(in: folder)
            for version in ["v1", "v1beta"] {
                for (verb, path, status) in Self.both + (version == "v1beta" ? Self.betaOnly : []) {
                    let reply = try await server.send(verb, "/\(version)/\(path)", verb == "POST" ? [:] : nil)
                    #expect(reply.status == status, "\(verb) \(version)/\(path): \(reply.body)")
                    guard status >= 400 else { continue }
                    #expect(reply.body["error"]?["code"]?.integer == Int64(status))
                    #expect(reply.body["error"]?["message"]?.string != "Method not found.")
                    if status == 501 { #expect(reply.body["error"]?["status"]?.string == "UNIMPLEMENTED") }
                }
                for (verb, path) in Self.plugins {
                    let reply = try await server.send(verb, "/\(version)/\(path)", verb == "POST" ? [:] : nil)
                    #expect([200, 400, 404, 501].contains(reply.status), "\(verb) \(path): \(reply.body)")
                    #expect(reply.body["error"]?["message"]?.string != "Method not found.")
                }
            }
            await server.kill()
        }
    }
}
