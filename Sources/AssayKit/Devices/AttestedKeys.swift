public import AssayCore

/// What a client sends to prove again that it holds an attested key.
///
/// It has no key identifier: the artifact carries the key.
public struct KeyAssertionRequest: RequestMessage {
    /// The fields: `artifact`, `assertion` and `challenge`, each in Base 64.
    public static let shape: MessageShape? = [
        .required("artifact", .bytes), .required("assertion", .bytes), .required("challenge", .bytes),
    ]

    /// What the exchange of the attestation returned.
    public let artifact: [UInt8]
    /// The assertion, in CBOR.
    public let assertion: [UInt8]
    /// The challenge that the assertion is made for.
    public let challenge: [UInt8]

    /// Reads the fields.
    public init(_ fields: RequestFields) throws(InvalidRequest) {
        artifact = try fields.bytes("artifact")
        assertion = try fields.bytes("assertion")
        challenge = try fields.bytes("challenge")
    }
}

extension ProviderMethod {
    /// The methods of a provider of keys in the hardware of devices: a client has its key attested once and gets an artifact, which carries
    /// the key; from then on it signs assertions with the key, and sends the artifact along.
    ///
    /// For the name `AppAttest` they are `generateAppAttestChallenge`, `exchangeAppAttestAttestation`, whose reply has the `artifact`,
    /// `exchangeAppAttestAssertion` and `appAttestConfig`.
    ///
    /// - Parameters:
    ///   - name: in upper camel case.
    ///   - challenge: the challenge in the request with the attestation.
    ///   - attestation: appraises an attestation; its reply has the field `artifact`.
    ///   - assertion: appraises an assertion. It must be made for its challenge, and use a counter of the key up
    ///     (``EvidenceUse/counter(_:ofKey:in:otherwise:)``): the challenge is not remembered.
    public static func attestedKey<Attestation: RequestMessage>(
        _ name: String, challenge: @escaping @Sendable (Attestation) -> [UInt8],
        attestation: @escaping @Sendable (Provider, Attestation, ProviderContext) async throws -> Verdict,
        assertion: @escaping @Sendable (Provider, KeyAssertionRequest, ProviderContext) async throws -> Verdict
    ) -> [ProviderMethod] {
        [
            .challenge("generate\(name)Challenge", resources: [.app, .oauthClient]),
            .exchange(
                "exchange\(name)Attestation", challenge: challenge, reply: .enclosed, resources: [.app, .oauthClient],
                replyFields: [.required("artifact", .bytes)], attestation),
            .exchange(
                "exchange\(name)Assertion", challenge: { (request: KeyAssertionRequest) in request.challenge },
                // An assertion is made for its challenge, and its counter refuses it a second time.
                storesChallenge: false, resources: [.app, .oauthClient], assertion),
            .config("\(String(name.prefix(1)).lowercasedASCII)\(name.dropFirst())Config"),
        ]
    }
}

extension EvidenceUse {
    /// That the counter of a key rises: no value is accepted twice.
    ///
    /// - Parameters:
    ///   - value: the counter in the evidence.
    ///   - keyID: the key's identifier.
    ///   - space: where the counters of keys are kept.
    ///   - reason: the reason of the refusal when the value is not above the last one.
    public static func counter(
        _ value: UInt32, ofKey keyID: [UInt8], in space: StateSpace, otherwise reason: Reason
    ) -> EvidenceUse {
        EvidenceUse(
            space.advancing("counter/\(Hex.encode(keyID))", to: UInt64(value)), otherwise: reason,
            detail: "\(value) is not above the last one accepted")
    }
}
