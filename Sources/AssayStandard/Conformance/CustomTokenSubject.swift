#if Simulator
internal import AssayCore
internal import AssayCrypto
internal import AssayCustomToken
internal import AssayKit
internal import AssayTesting

extension ProviderSubject {
    /// Servers that sign with the key of a service account.
    static func customToken() throws -> ProviderSubject {
        let signers = try CustomTokenSigners()
        return ProviderSubject(
            exchanges: [
                Exchange(
                    "exchangeCustomToken", lifetime: .seconds(300),
                    reuse: "a custom token is good until it expires, five minutes at most",
                    adversaries: signers.adversaries
                ) { try signers.body($0) }
            ],
            section: { _ in
                "service_accounts: [{email: \(CustomTokenSigners.email), public_key: \"\(signers.pem)\"}]"
            },
            wrongSections: [
                "service_accounts: [{email: \(CustomTokenSigners.email), public_key: x}] # wrong",
                "service_accounts: {} # wrong",
            ], simulator: try CustomTokenSimulator(signers.key))
    }
}

/// A server that signs custom tokens, and others whose tokens must be refused.
private struct CustomTokenSigners: Sendable {
    static let email = "signer@example-project.iam.gserviceaccount.com"
    private static let audience =
        "https://firebaseappcheck.googleapis.com/google.firebase.appcheck.v1.TokenExchangeService"

    let key: PrivateKey
    private let stranger: PrivateKey

    init() throws {
        key = try .generate(.rsa(bits: 2048))
        stranger = try .generate(.rsa(bits: 2048))
    }

    private var keyText: String { get throws { String(decoding: try key.publicKey.pem(), as: UTF8.self) } }
    /// The public key, for a text in YAML.
    var pem: String { (try? keyText.replacing("\n", with: "\\n")) ?? "" }

    /// - Parameters:
    ///   - other: the key that signs in place of the account's.
    ///   - changes: claims in place of the genuine ones; null for none.
    func body(_ client: TestDevice, by other: PrivateKey? = nil, _ changes: JSON = [:]) throws -> JSON {
        let token = try JWSSigner(key: other ?? key, keyID: "k1", algorithm: .rs256)
            .sign(payload: claims(client, changes).encoded, type: "JWT")
        return ["customToken": .string(token)]
    }

    private func claims(_ client: TestDevice, _ changes: JSON) -> JSON {
        let now = client.now.seconds
        let genuine: JSON = [
            "iss": .string(Self.email), "sub": .string(Self.email), "app_id": .string(client.app.id()),
            "aud": .string(Self.audience), "iat": .integer(now), "exp": .integer(now + 300),
        ]
        return .object(
            (genuine.members ?? []).compactMap { member in
                guard let change = changes[member.name] else { return member }
                return change == .null ? nil : JSONMember(member.name, change)
            })
    }

    /// A token that the account's public key authenticates, as if it were a secret.
    private func confused(_ client: TestDevice) throws -> JSON {
        let header: JSON = ["alg": "HS256", "typ": "JWT", "kid": "k1"]
        let parts = [header.encoded, claims(client, [:]).encoded].map { Base64.encodeURL($0) }
        let signed = parts.joined(separator: ".")
        let code = HMACSHA256(key: Array(try keyText.utf8)).authenticate(Array(signed.utf8)[...])
        return ["customToken": .string("\(signed).\(Base64.encodeURL(code))")]
    }

    var adversaries: [Adversary: AdversaryEvidence<TestDevice, JSON>] {
        let otherAccount: JSON = "signer@other-project.iam.gserviceaccount.com"
        return [
            .wrongAuthority: .request(CustomTokenReasons.issuer) { client in
                try body(client, by: stranger, ["iss": otherAccount, "sub": otherAccount])
            },
            .otherKey: .request(CustomTokenReasons.signature) { try body($0, by: stranger) },
            .otherApp: .request(CustomTokenReasons.app) { try body($0, ["app_id": .string(TestApp.second.id())]) },
            .untrustedDevice: .impossible("a custom token says nothing of a device: its signer has looked at it"),
            .expired: .request(CustomTokenReasons.expired) { client in
                let now = client.now.seconds
                return try body(client, ["iat": .integer(now - 700), "exp": .integer(now - 400)])
            },
            .future: .request(CustomTokenReasons.notYetValid) { client in
                let now = client.now.seconds
                return try body(client, ["iat": .integer(now + 600), "exp": .integer(now + 900)])
            },
            .malformed: .request(CustomTokenReasons.malformed) { try body($0, ["exp": "soon"]) },
            .downgraded: .request { try confused($0) },
            Adversary("other-audience", "a token for another service gets no token"): .request(
                CustomTokenReasons.audience
            ) { try body($0, ["aud": "https://identitytoolkit.googleapis.com/"]) },
            Adversary("too-long", "a token that would live too long gets no token"): .request(
                CustomTokenReasons.lifeTooLong
            ) { client in try body(client, ["exp": .integer(client.now.seconds + 3600)]) },
            Adversary("other-subject", "a token whose subject is not its issuer gets no token"): .request(
                CustomTokenReasons.claim
            ) { try body($0, ["sub": otherAccount]) },
        ]
    }
}
#endif
