internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayKit
internal import AssayTesting
internal import AssayVerifier
internal import Foundation
internal import Logging

extension FuzzTarget {
    /// Accepted is a document with a key that can verify.
    func judgeJWKS(_ input: [UInt8]) async throws -> FuzzVerdict {
        let set = try? JWKSet(json: input)
        let published = IssuerKeys.published(
            at: try FuzzIssuer.endpoint(), host: FuzzIssuer.host(publishing: input))
        for key in set?.keys ?? [] {
            try BrokenPromise.unless(key.thumbprint.utf8.count == 43, "a thumbprint is 32 bytes in base64url")
            try BrokenPromise.unless(try JWK(key.json) == key, "a key is the same when it was written and read")
            let algorithm = key.algorithm ?? JWSAlgorithm(for: key.publicKey)
            let forged = FuzzIssuer.forged(algorithm, keyID: nil)
            do throws(JWSError) {
                try CompactJWS.parse(utf8: Array(forged.utf8)[...]).verify(with: key.publicKey)
                throw JWSError.unknownKey
            } catch {
                // Nothing else but the signature is wrong: the key can be used.
                try BrokenPromise.unless(error == .badSignature, "an accepted key can verify: \(error)")
            }
        }
        let keyID = set?.keys.first?.keyID
        do {
            _ = try await published.verify(FuzzIssuer.forged(.es256, keyID: keyID))
            throw BrokenPromise("not so: a forged signature is refused")
        } catch let error as KeysUnavailable {
            try BrokenPromise.unless(
                set == nil || set?.keys.isEmpty == true, "keys that can be read can be had: \(error)")
        } catch let error as JWTFault {
            try BrokenPromise.unless(set != nil, "keys that cannot be read verify nothing: \(error)")
        }
        return set?.keys.isEmpty == false ? .accepted : .refused("unusable")
    }

    /// Accepted is a token of the one subject that is trusted, for this service, in time.
    func judgeActorToken(_ input: [UInt8]) async throws -> FuzzVerdict {
        let end = input.firstIndex(of: UInt8(ascii: "\n")) ?? input.endIndex
        let payload = Array(input[end...].dropFirst())
        let token = try FuzzIssuer.shared.token(header: Array(input[..<end]), payload: payload)
        let claims: JWTClaims
        do {
            claims = try await FuzzIssuer.shared.trusted.verify(token, now: FuzzScene.now)
        } catch let fault as JWTFault {
            if case .claim(let name) = fault { return .refused("claim_\(name)") }
            return .refused("\(fault)")
        }
        func isExactly(_ text: String?, _ other: String) -> Bool { text.map { Array($0.utf8) } == Array(other.utf8) }
        try BrokenPromise.unless(isExactly(claims.issuer, FuzzIssuer.name), "the issuer is exact")
        try BrokenPromise.unless(isExactly(claims.subject, FuzzIssuer.subject), "the subject is exact")
        try BrokenPromise.unless(
            claims.audience.contains { isExactly($0, FuzzIssuer.audience) }, "the audience is exact")
        try BrokenPromise.unless(
            isExactly(claims.text(at: "realm.name"), FuzzIssuer.realm), "a claim that is demanded is exact")
        guard let expires = claims.expires else { throw BrokenPromise("not so: an accepted token expires") }
        try BrokenPromise.unless(
            expires > FuzzScene.now && expires - FuzzScene.now <= .seconds(3630), "it expires in time")
        let names = try JSON.parse(payload).members?.map { Array($0.name.utf8) } ?? []
        try BrokenPromise.unless(Set(names).count == names.count, "an accepted token has each claim once")
        return .accepted
    }
}

/// Somebody who signs users in.
struct FuzzIssuer: Sendable {
    static let name = "https://login.example.com/"
    static let subject = "Kjosé"
    static let audience = "https://assay.example.com"
    static let realm = "staff"

    static func endpoint() throws(BrokenPromise) -> EndpointURL {
        guard let url = EndpointURL("https://login.example.com/keys") else {
            throw BrokenPromise("not so: a URL is one")
        }
        return url
    }

    let trusted: TrustedIssuer
    private let key: PrivateKey

    static var shared: FuzzIssuer { get throws { try made.get() } }

    private static let made = Result { try FuzzIssuer() }

    private init() throws {
        key = try PrivateKey.generate(.ec(.p256))
        let endpoint = try Self.endpoint()
        let configuration: JSON = [
            "issuer": .string(Self.name), "audiences": [.string(Self.audience)], "jwks": .string(endpoint.text),
            "subjects": [.string(Self.subject)], "claims": ["realm.name": .string(Self.realm)],
        ]
        let document = JWKSet([JWK(signing: key.publicKey, keyID: "K1")]).json.encoded
        trusted = try TrustedIssuer(
            JSONDecoder().decode(TrustedIssuerConfiguration.self, from: Data(configuration.encoded)),
            host: Self.host(publishing: document))
    }

    /// A token with a header and claims that nobody has judged.
    func token(header: [UInt8], payload: [UInt8]) throws -> String {
        let input = "\(Base64.encodeURL(header)).\(Base64.encodeURL(payload))"
        return "\(input).\(Base64.encodeURL(try key.sign(Array(input.utf8), as: .raw)))"
    }

    /// A token whose signature has the right form and is of nothing.
    static func forged(_ algorithm: JWSAlgorithm, keyID: String?) -> String {
        var header: [JSONMember] = [JSONMember("alg", .string(algorithm.rawValue))]
        if let keyID { header.append(JSONMember("kid", .string(keyID))) }
        let size = algorithm.rawValue.utf8.starts(with: "ES384".utf8) ? 96 : 64
        let signature = [UInt8](repeating: 1, count: size)
        return [JSON.object(header).encoded, Array("{}".utf8), signature].map { Base64.encodeURL($0) }
            .joined(separator: ".")
    }

    static func host(publishing document: [UInt8]) -> PluginHost {
        PluginHost(
            clock: ManualClock(FuzzScene.now).hostClock, store: MemoryStore(clock: .system),
            http: OneDocument(document),
            logger: Logger(label: "fuzz", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    /// A server that has one document, wherever it is asked for it.
    private final class OneDocument: OutboundHTTP {
        private let document: [UInt8]

        init(_ document: [UInt8]) {
            self.document = document
        }

        func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
            OutboundResponse(status: 200, headers: [], body: document)
        }
    }
}
