public import AssayCore
public import AssayCrypto
public import AssayKit

/// One line of a file of captured evidence: what it is about in clear, and the evidence encrypted.
///
/// | field | value |
/// |---|---|
/// | `v` | 1 |
/// | `decision` | the decision's identifier |
/// | `time` | when the request was judged (RFC 3339, UTC, milliseconds) |
/// | `resource` | the canonical name of the app or OAuth client |
/// | `provider`, `method` | the provider and the method |
/// | `kid` | the thumbprint of the key that can decrypt it (RFC 7638) |
/// | `jwe` | the evidence (`CapturedEvidence`), as a message in JWE compact form |
///
/// The fields in clear are repeated in the evidence, so that a change of them is noticed. Everybody who has the public key
/// can make a line: only the permissions of the folder say who did.
public struct EvidenceLine: Sendable {
    /// The longest line that is read, in bytes.
    public static let maximumByteCount = CompactJWE.maximumByteCount + 4096

    private static let form: Int64 = 1

    /// The identifier of the decision.
    @Exact public private(set) var decision: String
    /// When the request was judged.
    public let time: Instant
    /// The canonical name of the app or OAuth client.
    @Exact public private(set) var resource: String
    /// The provider.
    @Exact public private(set) var provider: String
    /// The name of the method.
    @Exact public private(set) var method: String
    /// The thumbprint of the key that can decrypt it.
    @Exact public private(set) var keyID: String
    private let message: [UInt8]

    /// Reads a line, without its end; the evidence stays encrypted.
    ///
    /// - Throws: `EvidenceError` for any other text.
    public init(parsing bytes: [UInt8]) throws(EvidenceError) {
        let json: JSON
        do throws(JSONError) {
            json = try JSON.parse(
                bytes, limits: .init(bytes: Self.maximumByteCount, depth: 4, values: 32, allowsRepeatedNames: false))
        } catch {
            throw EvidenceError("the line is not one JSON object: \(error)")
        }
        guard json["v"]?.integer == Self.form else {
            throw EvidenceError("the line is not a record of captured evidence of version \(Self.form)")
        }
        func text(_ name: String) throws(EvidenceError) -> String {
            guard let text = json[name]?.string else { throw EvidenceError("`\(name)` is missing") }
            return text
        }
        guard let time = Instant(rfc3339: try text("time")) else { throw EvidenceError("`time` is not a time") }
        self.time = time
        message = Array(try text("jwe").utf8)
        decision = try text("decision")
        resource = try text("resource")
        provider = try text("provider")
        method = try text("method")
        keyID = try text("kid")
    }

    /// Decrypts the evidence.
    ///
    /// - Throws: `EvidenceError` when the key is another one, and when anything was changed.
    public func open(with key: PrivateKey) throws(EvidenceError) -> CapturedEvidence {
        let own = JWK(key.publicKey).thumbprint
        guard keyID.isExactly(own) else {
            throw EvidenceError("it is encrypted for the key \(SafeText.of(keyID, limit: 64)), and this one is \(own)")
        }
        let evidence: CapturedEvidence
        do {
            let plaintext = try CompactJWE.parse(utf8: message[...]).decrypt(with: key)
            evidence = try CapturedEvidence(
                json: JSON.parse(
                    plaintext,
                    limits: .init(bytes: CompactJWE.maximumByteCount, depth: 40, values: 100_000)))
        } catch {
            throw EvidenceError("\(error)")
        }
        guard evidence.decision.text.isExactly(decision), evidence.time == time,
            evidence.resource.isExactly(resource), evidence.provider.isExactly(provider),
            evidence.method.isExactly(method)
        else { throw EvidenceError("the fields in clear are not those of the evidence: they were changed") }
        return evidence
    }

    /// Encrypts evidence, and returns its line with the end.
    ///
    /// What does not fit into `limit` is left out: first the request message, since a part of it could not be verified.
    ///
    /// - Throws: `CryptoError` when OpenSSL fails.
    static func encode(
        _ evidence: CapturedEvidence, for recipient: JWERecipient, limit: Int
    ) throws(CryptoError) -> [UInt8] {
        var evidence = evidence
        var plaintext = evidence.json.encoded
        if plaintext.count > limit {
            evidence.body = .null
            evidence.leftOut.insert(.body)
            plaintext = evidence.json.encoded
        }
        if plaintext.count > limit {
            (evidence.state, evidence.opened) = ([], [])
            evidence.leftOut.insert(.state)
            plaintext = evidence.json.encoded
        }
        let message = try CompactJWE.encrypt(plaintext, to: recipient, contentType: "json")
        let line: JSON = [
            "v": .integer(form), "decision": .string(evidence.decision.text),
            "time": .string(evidence.time.textWithMilliseconds), "resource": .string(evidence.resource),
            "provider": .string(evidence.provider), "method": .string(evidence.method),
            "kid": .string(recipient.keyID), "jwe": .string(String(decoding: message, as: UTF8.self)),
        ]
        return line.encoded + [UInt8(ascii: "\n")]
    }
}
