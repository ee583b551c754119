internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayKit
internal import AssayVerifier
internal import Logging

/// App Check tokens, signed with RSA keys of 2048 bits.
enum TokenBenchmarks {
    static let all = [
        Benchmark(names: ["token.verify", "token.verify.jwt-kit"], run: verify),
        Benchmark(names: ["token.verify.longest"], run: longest),
        Benchmark(names: ["token.verify.cached"], run: cached),
        Benchmark(names: ["token.issue", "token.issue.signature"], run: issue),
    ]

    /// The whole judgement of a relying party: signature and all claims.
    private static func verify(for time: Duration) async throws -> [ReportLine] {
        let service = try await DebugService()
        let keys = try service.keys()
        let peer = try await PeerVerifier(keySet: service.keySet, service.token)
        let rates = try await Interleaved.rates(
            [verification(of: service.token, keys), try bareVerification(of: service.token, keys), peer.operation],
            for: time)
        return [
            ReportLine("token.verify", rate: rates[0], limit: rates[1], needed: 0.85),
            ReportLine(
                "token.verify.jwt-kit", rate: rates[2], limit: rates[1],
                more: [
                    ("assay_per_second", rates[0]), ("factor", rates[0] / rates[2]), ("needed_factor", 2.5),
                ]),
        ]
    }

    /// The dearest genuine token: with a device's key, the name of a new state, a chosen identifier and a mark.
    private static func longest(for time: Duration) async throws -> [ReportLine] {
        let key = try PrivateKey.generate(.rsa(bits: 2048))
        guard case .ec(let device) = try PrivateKey.generate(.ec(.p256)).publicKey,
            let confirmation = ConfirmationKey(
                publicKey: device.x963, relyingPartyHash: SHA256.hash(Array("ABCDE12345.com.example.app".utf8)))
        else { throw BenchmarkFailure("the token cannot be made") }
        let (now, expectation) = (HostClock.system.now.seconds, DebugService.expectation)
        let claims: JSON = [
            "sub": "1:1234567890:ios:321abc456def7890", "aud": ["projects/1234567890", "projects/example-project"],
            "provider": "app_attest", "iss": .string(expectation.issuer), "exp": .integer(now + 3600),
            "iat": .integer(now), "jti": .string(Base64.encodeURL(Randomness.system.bytes(32))),
            "state": "mfk2j3x1", "jti_by": "a1b2c3d4", "cnf": confirmation.claim, "assay_mark": "old-client",
        ]
        let token = try JWSSigner(key: key, keyID: "key", algorithm: .rs256).sign(payload: claims.encoded)
        let keys = JWKSet([JWK(signing: key.publicKey, keyID: "key")])
        let rates = try await Interleaved.rates(
            [verification(of: token, keys), try bareVerification(of: token, keys)], for: time)
        return [ReportLine("token.verify.longest", rate: rates[0], limit: rates[1])]
    }

    /// The same token again and again, in a backend that remembers it.
    private static func cached(for time: Duration) async throws -> [ReportLine] {
        let service = try await DebugService()
        let keys = try service.keys()
        guard let url = EndpointURL("https://assay.example.com/v1/jwks") else { throw BenchmarkFailure("no URL") }
        let expectation = DebugService.expectation
        let verifier = AppCheckVerifier(
            keySet: url,
            requirements: TokenRequirements(
                issuer: expectation.issuer, audience: expectation.audience, providers: ["debug"]),
            cacheLimit: 1000, http: KeySetServer(keys),
            logger: Logger(label: "benchmark", factory: { _ in SwiftLogNoOpLogHandler() }))
        let cached = Operation(waiting: {
            guard case .verified = try await verifier.verify(service.token) else {
                throw BenchmarkFailure("the token is refused")
            }
        })
        let rates = try await Interleaved.rates(
            [cached, verification(of: service.token, keys), try bareVerification(of: service.token, keys)], for: time)
        return [
            ReportLine(
                "token.verify.cached", rate: rates[0], limit: rates[2],
                more: [("uncached_per_second", rates[1]), ("factor", rates[0] / rates[1]), ("needed_factor", 10)])
        ]
    }

    /// A whole exchange of a debug token, and of that only the claims and their signature.
    private static func issue(for time: Duration) async throws -> [ReportLine] {
        let rates = try await Interleaved.rates(
            [try await exchange(), try signature(), try BareCall.rsaSigning().operation], for: time)
        return [
            ReportLine("token.issue", rate: rates[0], limit: rates[2], needed: 0.9),
            ReportLine("token.issue.signature", rate: rates[1], limit: rates[2], needed: 0.9),
        ]
    }

    static func verification(of token: String, _ keys: JWKSet) -> Operation {
        let verifier = TokenVerifier(keys: keys)
        return Operation {
            guard case .verified = verifier.verify(token, DebugService.expectation, now: HostClock.system.now) else {
                throw BenchmarkFailure("the token is refused")
            }
        }
    }

    /// The one thing in verifying a token that cannot be left out: the same signature with the same key.
    static func bareVerification(of token: String, _ keys: JWKSet) throws -> Operation {
        let parts = try CompactJWS.parse(utf8: Array(token.utf8)[...])
        guard let key = parts.header.keyID.flatMap({ keys[$0] }) else { throw BenchmarkFailure("no key") }
        return try BareCall.verification(key.publicKey, message: parts.signingInput, signature: parts.signature)
            .operation
    }

    static func exchange() async throws -> Operation {
        let service = try await DebugService()
        return Operation(waiting: { try await service.issue() })
    }

    private static func signature() throws -> Operation {
        let signer = try JWSSigner(key: .generate(.rsa(bits: 2048)), keyID: "key", algorithm: .rs256)
        return Operation {
            let issued = HostClock.system.now.seconds
            let claims: JSON = [
                "sub": "1:1234567890:ios:321abc456def7890",
                "aud": ["projects/1234567890", "projects/example-project"], "provider": "debug",
                "iss": "https://firebaseappcheck.googleapis.com/1234567890", "exp": .integer(issued + 3600),
                "iat": .integer(issued), "jti": .string(Base64.encodeURL(Randomness.system.bytes(32))),
            ]
            _ = try signer.sign(payload: claims.encoded)
        }
    }
}

/// A server that publishes a key set, within the process.
private final class KeySetServer: OutboundHTTP {
    private let document: [UInt8]

    init(_ keys: JWKSet) {
        document = keys.json.encoded
    }

    func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        OutboundResponse(status: 200, body: document)
    }
}
