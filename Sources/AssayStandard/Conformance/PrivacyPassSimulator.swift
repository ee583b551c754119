#if Simulator
internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayPolicyTools
internal import AssayTesting

/// Clients with tokens of a simulated issuer, for tests of policies.
///
/// A made-up key takes the place of the keys of each issuer.
struct PrivacyPassSimulator: EvidenceSimulator {
    let provider = "privacy_pass"
    let methods = [exchange, cached]
    private let issuer: SimulatedTokenIssuer
    /// Signs for nobody.
    private let stranger: SimulatedTokenIssuer

    private static let exchange = "exchangePrivacyPassToken"
    private static let cached = "exchangeCachedPrivacyPassToken"
    private static let challenges = "generatePrivacyPassChallenge"
    /// Longer than a challenge is good.
    private static let tooLong = Duration.seconds(400)

    let properties = [
        EvidenceProperty(
            FactName("issuer", .text), "The name of the issuer in the policies; the first one when absent."),
        EvidenceProperty(
            FactName("origin", .text),
            "The names of the origin that the token is for; those of the policies when absent."),
    ]

    let changes = [
        EvidenceChange(
            "token", ["altered", "other_key", "replay"],
            "The token: one with a changed signature, one by a key that the policies do not have, or one that was used before."
        ),
        EvidenceChange(
            "challenge", ["forged", "expired"], of: [exchange],
            "The challenge: one that another service made, or one that is too old."),
    ]

    /// - Throws: `SimulationError` when no keys can be made.
    init() throws {
        issuer = try SimulatedTokenIssuer()
        stranger = try SimulatedTokenIssuer()
    }

    func begin(_ order: EvidenceOrder) -> EvidenceSession {
        let names = (order.section["issuers"]?.array ?? []).map { $0["name"]?.string ?? "issuer.example.com" }
        let name = order.text("issuer") ?? names.first ?? "issuer.example.com"
        let origins =
            order.text("origin")
            ?? (order.section["origins"]?.array ?? []).compactMap(\.string).joined(separator: ",")
        // An issuer's key belongs to one issuer.
        let overlay = names.map { other -> JSON in
            let key = other.isExactly(name) ? issuer.tokenKey : (try? SimulatedTokenIssuer().tokenKey) ?? []
            return ["name": .string(other), "keys": [["token_key": .string(Base64.encode(key))]]]
        }
        let isLate = order.changes("challenge", "expired")
        return EvidenceSession(
            overlay: names.isEmpty ? [:] : ["issuers": .array(overlay)],
            start: isLate ? order.now - Self.tooLong : order.now
        ) { calls in
            var challenge: [UInt8] = []
            if order.method.isExactly(Self.exchange) {
                challenge = try await calls.challenge(Self.challenges)
                if order.changes("challenge", "forged"), let last = challenge.popLast() { challenge.append(last ^ 1) }
            }
            let signer = order.changes("token", "other_key") ? stranger : issuer
            var token = try signer.token(
                for: SimulatedTokenText.challenge(
                    issuer: name, redemption: challenge.isEmpty ? [] : SHA256.hash(challenge), origins: origins))
            if order.changes("token", "altered"), let last = token.popLast() { token.append(last ^ 1) }
            let text = JSON.string(SimulatedTokenText.authorization(token))
            let body: JSON =
                challenge.isEmpty
                ? ["privateToken": text]
                : ["challenge": .string(Base64.encode(challenge)), "privateToken": text]
            if order.changes("token", "replay") { _ = try await calls.call(order.method, body) }
            if isLate { calls.pass(Self.tooLong) }
            return body
        }
    }
}
#endif
