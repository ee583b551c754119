internal import AssayAppAttest
internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayRequestProof
internal import AssayTesting
internal import Synchronization

/// Evidence of a simulated device, whose keys and certificates are of the kinds of Apple's.
enum AppAttestBenchmarks {
    static let all = [
        Benchmark(names: ["attestation.verify"], run: attestation),
        Benchmark(names: ["assertion.verify", "assertion.verify.from-point"], run: assertion),
        Benchmark(names: ["proof.verify", "proof.verify.new-device"], run: proof),
    ]

    private static let appID = "ABCDE12345.com.example.app"
    private static let clientDataHash = SHA256.hash(Array("a challenge".utf8))

    /// An attestation without its receipt, under an intermediate that was verified before.
    private static func attestation(for time: Duration) async throws -> [ReportLine] {
        let now = HostClock.system.now
        let authority = try SimulatedAppleCA(at: now)
        let device = SimulatedDevice(authority: authority)
        let keyID = try device.generateKey()
        let evidence = try device.attestKey(
            keyID, clientDataHash: clientDataHash, app: SimulatedApp(appID: appID, environment: .production), at: now)
        let verifier = AttestationVerifier(
            anchors: [try TrustAnchor(der: authority.rootCertificateDER)], receipts: .unchecked)
        let expectation = AttestationExpectation(
            appID: try AppAttestAppID(appID), keyID: Base64.decode(keyID) ?? [], clientDataHash: clientDataHash,
            environments: [.production])
        let verification = Operation {
            guard case .verified = verifier.verify(evidence, expecting: expectation, at: now) else {
                throw BenchmarkFailure("the attestation is refused")
            }
        }
        let rates = try await Interleaved.rates(
            [verification, try BareCall.verification(with: authority.intermediate.key)], for: time)
        return [ReportLine("attestation.verify", rate: rates[0], limit: rates[1], needed: 0.75)]
    }

    /// An assertion, with a key that was kept and with one that is made of its point each time.
    private static func assertion(for time: Duration) async throws -> [ReportLine] {
        let device = SimulatedDevice(authority: try SimulatedAppleCA(at: HostClock.system.now))
        let keyID = try device.generateKey()
        let evidence = try device.generateAssertion(
            keyID, clientDataHash: clientDataHash, app: SimulatedApp(appID: appID, environment: .production))
        let key = try device.key(keyID)
        let keptKey = try ECPublicKey(curve: .p256, x963: key.point)
        let expectation = AssertionExpectation(
            appID: try AppAttestAppID(appID), clientDataHash: clientDataHash, previousCounter: 0)
        let verifier = AssertionVerifier()
        let withKeptKey = Operation {
            try requireVerified(verifier.verify(evidence, publicKey: keptKey, expecting: expectation))
        }
        let withPoint = Operation {
            try requireVerified(verifier.verify(evidence, publicKey: key.point, expecting: expectation))
        }
        let rates = try await Interleaved.rates(
            [withKeptKey, withPoint, try BareCall.verification(with: key)], for: time)
        return [
            ReportLine("assertion.verify", rate: rates[0], limit: rates[2], needed: 0.8),
            ReportLine("assertion.verify.from-point", rate: rates[1], limit: rates[2]),
        ]
    }

    /// The proof of a request, as it stands in header fields: of a device that was seen before, and of more devices than the
    /// process keeps keys of.
    private static func proof(for time: Duration) async throws -> [ReportLine] {
        let now = HostClock.system.now
        let device = SimulatedDevice(authority: try SimulatedAppleCA(at: now))
        let digest = "sha-256=:\(Base64.encode(SHA256.hash([]))):"
        guard let request = ProvenRequest(method: "POST", target: "/payments?id=7"),
            let verifier = RequestProofVerifier(authorities: ["api.example.com"], maximumAge: .seconds(600))
        else { throw BenchmarkFailure("the proof cannot be made") }
        let base = request.signatureBase(authority: "api.example.com", contentDigest: digest, created: now.seconds)
        let parameters = base.split(separator: "\n").last?.dropFirst("\"@signature-params\": ".utf8.count) ?? ""
        func proof() throws -> (key: SimulatedKey, named: ConfirmationKey, headers: RequestProofHeaders) {
            let keyID = try device.generateKey()
            let key = try device.key(keyID)
            let assertion = try device.generateAssertion(
                keyID, clientDataHash: SHA256.hash(Array(base.utf8)),
                app: SimulatedApp(appID: appID, environment: .production))
            guard
                let named = ConfirmationKey(publicKey: key.point, relyingPartyHash: SHA256.hash(Array(appID.utf8)))
            else { throw BenchmarkFailure("the proof cannot be made") }
            return (
                key, named,
                RequestProofHeaders(
                    contentDigest: digest, signatureInput: "appcheck=\(parameters)",
                    signature: "appcheck=:\(Base64.encode(assertion)):")
            )
        }
        let known = try proof()
        let (named, headers) = (known.named, known.headers)
        let others = try (0..<4096).map { _ in try proof() }.map { (named: $0.named, headers: $0.headers) }
        let verification = Operation {
            guard case .verified = verifier.verify(headers, of: request, by: named, now: now) else {
                throw BenchmarkFailure("the proof is refused")
            }
        }
        let turn = Turn()
        let verificationOfOthers = Operation {
            let other = others[turn.number.wrappingAdd(1, ordering: .relaxed).oldValue & 4095]
            guard case .verified = verifier.verify(other.headers, of: request, by: other.named, now: now) else {
                throw BenchmarkFailure("the proof is refused")
            }
        }
        let rates = try await Interleaved.rates(
            [verification, verificationOfOthers, try BareCall.verification(with: known.key)], for: time)
        return [
            ReportLine("proof.verify", rate: rates[0], limit: rates[2]),
            ReportLine("proof.verify.new-device", rate: rates[1], limit: rates[2]),
        ]
    }

    /// Whose turn it is.
    private final class Turn: Sendable {
        let number = Atomic(0)
    }

    private static func requireVerified(_ outcome: AssertionOutcome) throws(BenchmarkFailure) {
        guard case .verified = outcome else { throw BenchmarkFailure("the assertion is refused") }
    }
}
