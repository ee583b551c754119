import AssayCore
import AssayCrypto
import AssayKit
import AssayTesting
import Testing

@testable import AssayVerifier

@Suite("Trusted issuers")
struct TrustedIssuerTests {
    private func issuer(
        _ keys: TestIssuer, subjects: [String]? = nil, claims: [ExactText: String]? = nil, jwks: String = "env:JWKS",
        audiences: [String] = ["https://assay.example.com"]
    ) throws -> TrustedIssuer {
        var host = TestIssuer.host()
        host.secrets = SecretSource { (reference) throws(SecretError) in
            reference.description == "env:JWKS" ? keys.document() : reference.description == "env:BAD" ? [0x7B] : nil
        }
        let configuration = TrustedIssuerConfiguration(
            issuer: TestIssuer.name, audiences: audiences, jwks: jwks, subjects: subjects, claims: claims)
        return try TrustedIssuer(configuration, host: host)
    }

    @Test("a good token gives its claims")
    func good() async throws {
        let keys = try TestIssuer()
        let claims = try await issuer(keys).verify(
            try keys.token(["aud": ["https://other.example.com", "https://assay.example.com"]]), now: TestIssuer.now)
        #expect(claims.subject == "somebody")
    }

    @Test("each demand refuses what does not meet it", arguments: demands)
    func judged(claims: JSON, fault: JWTFault) async throws {
        let keys = try TestIssuer()
        let issuer = try issuer(keys)
        await #expect(throws: fault) { try await issuer.verify(try keys.token(claims), now: TestIssuer.now) }
    }

    @Test(
        "a token of another type is no token of its issuer, however good (RFC 8725, section 3.11)",
        arguments: [
            ("JWT", nil), ("jwt", nil), ("at+jwt", .type), ("dpop+jwt", .type), ("logout+jwt", .type),
            ("jwt+at", .type), ("", .type),
        ] as [(String, JWTFault?)])
    func types(type: String, fault: JWTFault?) async throws {
        let keys = try TestIssuer()
        let issuer = try issuer(keys)
        let token = try keys.token(type: type)
        if let fault {
            await #expect(throws: fault) { try await issuer.verify(token, now: TestIssuer.now) }
        } else {
            _ = try await issuer.verify(token, now: TestIssuer.now)
        }
    }

    @Test("a token lives for an hour from its iat at most, also when that is ahead by what clocks may differ")
    func lives() async throws {
        let keys = try TestIssuer()
        let issuer = try issuer(keys)
        let rows: [(issued: Int64?, expires: Int64, fault: JWTFault?)] = [
            (0, 3600, nil), (0, 3601, .lifeTooLong), (30, 3630, nil), (30, 3631, .lifeTooLong),
            (-600, 3000, nil), (-600, 3001, .lifeTooLong), (nil, 3600, nil), (nil, 3601, .lifeTooLong),
            (30, 1_000_000, .lifeTooLong),
        ]
        for row in rows {
            let now = TestIssuer.now.seconds
            let token = try keys.token([
                "iat": row.issued.map { .integer(now + $0) } ?? .null, "exp": .integer(now + row.expires),
            ])
            var found: JWTFault?
            do { _ = try await issuer.verify(token, now: TestIssuer.now) } catch { found = error as? JWTFault }
            #expect(found == row.fault, "\(row)")
        }
    }

    @Test("a clock that is 30 seconds ahead does no harm, and times may have fractions")
    func skew() async throws {
        let keys = try TestIssuer()
        let token = try keys.token(["iat": 1_795_000_030, "exp": .number(1_795_000_200.5)])
        _ = try await issuer(keys).verify(token, now: TestIssuer.now)
    }

    @Test("subjects and further claims narrow the trust")
    func narrowed() async throws {
        let keys = try TestIssuer()
        let issuer = try issuer(keys, subjects: ["deployer"], claims: ["where.env": "production"])
        let good = try keys.token(["sub": "deployer", "where": ["env": "production"]])
        _ = try await issuer.verify(good, now: TestIssuer.now)
        let narrowings: [(JSON, JWTFault)] = [
            (["where": ["env": "production"]], .claim("sub")),
            (["sub": "deployer"], .claim("where.env")),
            (["sub": "deployer", "where": ["env": true]], .claim("where.env")),
            (["sub": nil, "where": ["env": "production"]], .claim("sub")),
        ]
        for (claims, fault) in narrowings {
            await #expect(throws: fault) { try await issuer.verify(try keys.token(claims), now: TestIssuer.now) }
        }
    }

    @Test(
        "what looks like a trusted name, or is canonically equivalent to it, is another name (RFC 7515, section 5.3)",
        arguments: [("Karl", "\u{212A}arl"), ("jos\u{E9}", "jose\u{301}"), ("\u{3A9}", "\u{2126}")])
    func exact(trusted: String, other: String) async throws {
        let keys = try TestIssuer()
        let issuer = try issuer(
            keys, subjects: [trusted], claims: [ExactText("c\(trusted)"): trusted], audiences: ["https://\(trusted)"])
        func claims(
            subject: String? = nil, audience: String? = nil, name: String? = nil, value: String? = nil
        ) -> JSON {
            .object([
                JSONMember("sub", .string(subject ?? trusted)),
                JSONMember("aud", .string("https://\(audience ?? trusted)")),
                JSONMember("c\(name ?? trusted)", .string(value ?? trusted)),
            ])
        }
        _ = try await issuer.verify(try keys.token(claims()), now: TestIssuer.now)
        let rows: [(JSON, JWTFault)] = [
            (claims(subject: other), .claim("sub")), (claims(audience: other), .audience),
            (claims(name: other), .claim("c\(trusted)")), (claims(value: other), .claim("c\(trusted)")),
        ]
        for (claims, fault) in rows {
            await #expect(throws: fault) { try await issuer.verify(try keys.token(claims), now: TestIssuer.now) }
        }
        let named = try TestIssuer("key-\(trusted)")
        let token = try TestIssuer("key-\(other)").token()
        let other = IssuerKeys.fixed(try JWKSet(json: named.document()).keys)
        await #expect(throws: JWTFault.keyUnknown) { try await other.verify(token) }
    }

    @Test(
        "a configuration that trusts too much, or nobody, is refused",
        arguments: ["env:NONE", "env:BAD", "http://login.example.com/jwks", "login.example.com"])
    func configuration(jwks: String) throws {
        let keys = try TestIssuer()
        #expect(throws: ConfigurationError.self) { try issuer(keys, jwks: jwks) }
        #expect(throws: ConfigurationError.self) { try issuer(keys, audiences: []) }
        #expect(throws: ConfigurationError.self) { try issuer(keys, subjects: []) }
    }
}

/// Claims that are wrong, and what is said of them.
private let demands: [(JSON, JWTFault)] = [
    (["iss": "https://login.example.com"], .issuer),
    (["iss": nil], .issuer),
    (["aud": "https://other.example.com"], .audience),
    (["aud": nil], .audience),
    (["aud": []], .audience),
    (["exp": nil], .claim("exp")),
    (["exp": 1_795_000_000], .expired),
    (["iat": 1_795_000_031], .notYetValid),
    (["nbf": 1_795_000_031], .notYetValid),
    (["exp": 1_795_003_601], .lifeTooLong),
    (["iat": nil, "exp": 1_795_003_631], .lifeTooLong),
    (["iat": 1_794_000_000], .lifeTooLong),
    (["sub": 5], .malformed),
    (["aud": [5]], .malformed),
    (["exp": "soon"], .malformed),
    (["iat": -1], .malformed),
    (["exp": .number(1e300)], .malformed),
]
