internal import AssayCrypto
internal import AssayEngine
internal import AssayKit
internal import AssayVerifier

/// App Check tokens, signed with RSA keys of 2048 bits.
enum TokenBenchmarks {
    static let all = [
        Benchmark(names: ["token.verify", "token.verify.jwt-kit"], run: verify),
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
