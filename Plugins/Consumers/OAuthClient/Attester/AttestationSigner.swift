internal import AssayCore
internal import AssayCrypto
internal import AssayVerifier

/// A key that signs client attestations only.
struct AttestationSigner: Sendable {
    private let key: PrivateKey
    private let algorithm: JWSAlgorithm
    private let keyID: String

    init(
        _ configuration: AttesterConfiguration.Key, at path: [ConfigurationError.Component], secrets: SecretSource
    ) throws(ConfigurationError) {
        guard (1...256).contains(configuration.keyID.utf8.count) else {
            throw ConfigurationError(at: path + ["key_id"], "expected 1 to 256 characters")
        }
        var bytes: [UInt8]
        do throws(SecretError) {
            bytes = try secrets.pem(configuration.privateKey)
        } catch {
            throw ConfigurationError(at: path + ["private_key"], error.message)
        }
        defer { SecretBytes.wipe(&bytes) }
        do throws(CryptoError) {
            key = try PrivateKey(pem: bytes)
        } catch {
            throw ConfigurationError(at: path + ["private_key"], "the key cannot be used: \(error.message)")
        }
        algorithm = JWSAlgorithm(for: key.publicKey)
        keyID = configuration.keyID
    }

    func sign(_ claims: JSON) throws(CryptoError) -> String {
        let header: JSON = .object([
            "kid": .string(keyID), "typ": .string(ClientAttestation.type), "alg": .string(algorithm.rawValue),
        ])
        let input = "\(Base64.encodeURL(header.encoded)).\(Base64.encodeURL(claims.encoded))"
        return "\(input).\(Base64.encodeURL(try key.sign(input.utf8, as: .raw)))"
    }

    /// The claims of a JWT that this key signed as an attestation; nil for any other.
    func claims(of token: String) -> JSON? {
        guard let signed = try? CompactJWS.parse(utf8: Array(token.utf8)[...]),
            (signed.header.type?.lowercasedASCII).isExactly(ClientAttestation.type),
            signed.header.keyID.isExactly(keyID),
            (try? signed.verify(with: key.publicKey)) != nil
        else { return nil }
        return try? JWTClaims(payload: signed.payload).json
    }
}

/// What an app sends to have its key attested: `{"jwk": {"kty", "crv", "x", "y"}}`.
struct AttestClientRequest: RequestMessage {
    static let shape: MessageShape? = [
        .required(
            "jwk",
            .message([
                .required("kty", .text), .optional("use", .text), .required("crv", .text), .required("x", .text),
                .required("y", .text),
            ]))
    ]

    /// Any JSON: a wrong value is refused with a reason.
    let jwk: JSON?

    init(_ fields: RequestFields) throws(InvalidRequest) {
        jwk = try fields.json("jwk")
    }
}
