#if Simulator
internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayKit
internal import AssayPolicyTools

/// Servers that sign custom tokens, for tests of policies.
///
/// A made-up key takes the place of the key of each service account and each issuer.
struct CustomTokenSimulator: EvidenceSimulator {
    let provider = "custom"
    let methods = ["exchangeCustomToken"]
    private let signer: JWSSigner
    /// Signs for nobody.
    private let stranger: JWSSigner
    private let keyPEM: String
    private let keySet: [UInt8]

    private static let audience =
        "https://firebaseappcheck.googleapis.com/google.firebase.appcheck.v1.TokenExchangeService"

    let properties = [
        EvidenceProperty(
            FactName("account", .text), "The address of the service account; the first one of the policies when absent."
        ),
        EvidenceProperty(FactName("issuer", .text), "The issuer that signs, in the place of a service account."),
        EvidenceProperty(FactName("subject", .text), "The subject of an issuer's token."),
        EvidenceProperty(FactName("app_id", .text), "The app that the token names; that of the test when absent."),
        EvidenceProperty(FactName("ttl", .duration), "The lifetime that the token asks for."),
    ]

    let changes = [
        EvidenceChange(
            "token", ["altered", "expired", "other_key"],
            "The custom token: one with a changed signature, one that has expired, or one that another key has signed.")
    ]

    /// - Throws: `CryptoError` when no keys can be made.
    init(_ key: PrivateKey) throws {
        signer = try JWSSigner(key: key, keyID: "simulated", algorithm: .rs256)
        stranger = try JWSSigner(key: .generate(.rsa(bits: 2048)), keyID: "simulated", algorithm: .rs256)
        keyPEM = String(decoding: try key.publicKey.pem(), as: UTF8.self)
        keySet = JSON.object(["keys": [JWK(signing: key.publicKey, keyID: "simulated").json]]).encoded
    }

    func begin(_ order: EvidenceOrder) -> EvidenceSession {
        let accounts = (order.section["service_accounts"]?.array ?? []).enumerated().map { index, account in
            account["email"]?.string ?? "account-\(index)@simulated.example"
        }
        let issuers = order.section["issuers"]?.array ?? []
        let overlay: JSON = [
            "service_accounts": .array(accounts.map { ["email": .string($0), "public_key": .string(keyPEM)] })
        ]
        let (keySet, isUnknown) = (keySet, order.section["service_accounts"]?.array == nil)
        return EvidenceSession(
            overlay: isUnknown ? [:] : overlay, secrets: SecretSource { _ in keySet }, start: order.now,
            upstream: { _ in
                OutboundResponse(
                    status: 200, headers: [OutboundHeader("Content-Type", "application/json")], body: keySet)
            }
        ) { _ in
            let token = try self.token(order, accounts: accounts, issuers: issuers)
            return ["customToken": .string(token)]
        }
    }

    private func token(_ order: EvidenceOrder, accounts: [String], issuers: [JSON]) throws -> String {
        let name =
            order.text("issuer")
            ?? (order.text("account").isNil && accounts.isEmpty ? issuers.first?["issuer"]?.string : nil)
        let age: Int64 = order.changes("token", "expired") ? 3600 : 0
        var claims = [
            JSONMember("iat", .integer(order.now.seconds - age)),
            JSONMember("exp", .integer(order.now.seconds - age + 300)),
        ]
        let appID = JSON.string(order.text("app_id") ?? order.app.subject)
        if let name {
            let issuer = issuers.first { $0["issuer"]?.string.isExactly(name) ?? false }
            claims += [
                JSONMember("iss", .string(name)),
                JSONMember("aud", .string(issuer?["audiences"]?.array?.first?.string ?? "https://simulated.example")),
                JSONMember(
                    "sub", .string(order.text("subject") ?? issuer?["subjects"]?.array?.first?.string ?? "simulated")),
            ]
            var others: [JSONMember] = []
            for claim in issuer?["claims"]?.members ?? [] { Self.set(claim.name, claim.value, in: &others) }
            Self.set(issuer?["app_claim"]?.string ?? "app_id", appID, in: &others)
            claims += others
        } else {
            let account = JSON.string(order.text("account") ?? accounts.first ?? "nobody@simulated.example")
            claims += [
                JSONMember("iss", account), JSONMember("sub", account), JSONMember("aud", .string(Self.audience)),
                JSONMember("app_id", appID),
            ]
        }
        if let ttl = order.duration("ttl") { claims.append(JSONMember("ttl", .string("\(ttl.components.seconds)s"))) }
        let signer = order.changes("token", "other_key") ? stranger : signer
        let token = try signer.sign(payload: JSON.object(claims).encoded, type: "JWT")
        guard order.changes("token", "altered") else { return token }
        // The first character of the signature has no unused bits.
        var bytes = Array(token.utf8)
        if let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot + 1 < bytes.count {
            bytes[dot + 1] = bytes[dot + 1] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Sets a claim by its path with dots.
    private static func set(_ path: String, _ value: JSON, in claims: inout [JSONMember]) {
        let parts = path.split(onASCII: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2, let head = parts.first else {
            claims.append(JSONMember(path, value))
            return
        }
        let place = claims.firstIndex { $0.name.isExactly(head) }
        var inner = place.flatMap { claims[$0].value.members } ?? []
        set(parts[1], value, in: &inner)
        let member = JSONMember(head, .object(inner))
        if let place { claims[place] = member } else { claims.append(member) }
    }
}
#endif
