import AssayCore
import AssayCrypto
import AssayTesting
import Testing

@testable import AssayRequestProof

/// A device with a key, and the proofs that it makes.
struct ProofScene {
    static let authority = "api.example.com"
    static let content = Array(#"{"sum":1}"#.utf8)

    let now = Instant(seconds: 1_764_000_000)
    let app = SimulatedApp(appID: "ABCDE12345.com.example.app", environment: .production)
    let device: SimulatedDevice
    let keyID: String
    let key: ConfirmationKey
    let verifier: RequestProofVerifier

    init(authorities: [String] = [Self.authority]) throws {
        device = try SimulatedDevice(authority: SimulatedAppleCA(at: now))
        keyID = try device.generateKey()
        key = try #require(
            ConfirmationKey(
                publicKey: device.key(keyID).point, relyingPartyHash: SHA256.hash(Array(app.appID.utf8))))
        verifier = try #require(RequestProofVerifier(authorities: authorities))
    }

    static func request(_ method: String = "POST", _ target: String = "/payments?id=7") throws -> ProvenRequest {
        try #require(ProvenRequest(method: method, target: target))
    }

    static func digest(_ content: [UInt8]) -> String { "sha-256=:\(Base64.encode(SHA256.hash(content))):" }

    /// The fields of a proof of the request above.
    func headers(
        authority: String = Self.authority, content: [UInt8] = Self.content, created: Int64? = nil,
        _ options: AssertionOptions = AssertionOptions()
    ) throws -> RequestProofHeaders {
        let created = created ?? now.seconds
        let digest = Self.digest(content)
        let base = try Self.request().signatureBase(authority: authority, contentDigest: digest, created: created)
        let assertion = try device.generateAssertion(
            keyID, clientDataHash: SHA256.hash(Array(base.utf8)), app: app, options: options)
        return RequestProofHeaders(
            contentDigest: digest, signatureInput: "appcheck=\(SignatureInput(created: created).text)",
            signature: "appcheck=:\(Base64.encode(assertion)):")
    }

    /// The code of what a proof is refused for; nil when it is good.
    func reason(
        _ headers: RequestProofHeaders, _ request: ProvenRequest? = nil, key: ConfirmationKey? = nil,
        after time: Duration = .zero
    ) throws -> String? {
        let request = try request ?? Self.request()
        switch verifier.verify(headers, of: request, by: key ?? self.key, now: now + time) {
        case .verified: return nil
        case .refused(let reason, _): return reason.code
        }
    }
}
