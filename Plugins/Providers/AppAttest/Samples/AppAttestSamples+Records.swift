public import AssayCore
internal import AssayApple
internal import AssayCrypto
public import AssayKit

/// Evidence as a server received it, as a sample.
extension AppAttestSamples {
    /// Makes a verifier of what a server received, under the policy of an app: with its trust anchors, and with its demand
    /// for receipts.
    public init(_ configuration: AppAttestConfiguration) throws(AppAttestSampleError) {
        try self.init(
            trustAnchor: configuration.trustAnchor.map { Array($0.utf8) },
            receiptTrustAnchor: configuration.receiptTrustAnchor.map { Array($0.utf8) }, at: nil,
            requiresReceipt: configuration.receipts == .required)
    }

    /// The sample of a request that a server received.
    ///
    /// - Parameters:
    ///   - message: the request message of `exchangeAppAttestAttestation` or `exchangeAppAttestAssertion`.
    ///   - time: when it was judged.
    ///   - app: the app that the evidence must prove.
    ///   - configuration: the policy of the app.
    ///   - refusedCounter: the counter of the assertion, if it was not above the last one accepted; nil otherwise.
    ///   - open: what is sealed in an artifact; nil when that is not known.
    /// - Throws: what is missing for a sample.
    public static func sample(
        _ message: JSON, at time: Instant, app: AppIdentity, _ configuration: AppAttestConfiguration,
        refusedCounter: UInt64?, open: ([UInt8]) -> [UInt8]?
    ) throws(AppAttestSampleError) -> JSON {
        let appID: String
        let environments: Set<AppAttestEnvironment>
        do throws(ConfigurationError) {
            appID = try AppleIdentity.of(app, neededBy: "App Attest").appID
            environments = try AppAttestRules(configuration, stage: app.project.stage).environments
        } catch {
            throw AppAttestSampleError(error.message)
        }
        let isAssertion = message["artifact"] != nil
        let attested: AttestationRequest?
        let asserted: KeyAssertionRequest?
        do throws(InvalidRequest) {
            let fields = try RequestFields(message)
            attested = isAssertion ? nil : try AttestationRequest(fields)
            asserted = isAssertion ? try KeyAssertionRequest(fields) : nil
        } catch {
            throw AppAttestSampleError(error.message)
        }
        if let asserted { return try assertion(asserted, appID, refusedCounter, open) }
        guard let attested else { throw AppAttestSampleError("the request has no evidence") }
        return attestation(attested, appID, at: time, environments)
    }

    private static func attestation(
        _ request: AttestationRequest, _ appID: String, at time: Instant, _ environments: Set<AppAttestEnvironment>
    ) -> JSON {
        var members = [
            JSONMember("kind", "attestation"), JSONMember("app_id", .string(appID)),
            JSONMember("attestation_base64", .string(Base64.encode(request.attestation))),
            JSONMember("key_id_base64", .string(Base64.encode(request.keyID))),
            JSONMember("client_data_hash_base64", .string(Base64.encode(SHA256.hash(request.challenge)))),
            JSONMember("valid_at", .string(time.description)),
        ]
        if environments.count == 1, let environment = environments.first {
            members.append(JSONMember("environment", .string(environment.rawValue)))
        }
        return .object(members)
    }

    private static func assertion(
        _ request: KeyAssertionRequest, _ appID: String, _ refusedCounter: UInt64?, _ open: ([UInt8]) -> [UInt8]?
    ) throws(AppAttestSampleError) -> JSON {
        guard let artifact = open(request.artifact).flatMap(AttestedKeyArtifact.init(encoded:)) else {
            throw AppAttestSampleError("the artifact could not be opened, so the key of the assertion is unknown")
        }
        let key: [UInt8]
        do throws(CryptoError) {
            key = try PublicKey.ec(ECPublicKey(curve: .p256, x963: artifact.publicKey)).pem()
        } catch {
            throw AppAttestSampleError("the artifact has no valid key: \(error.message)")
        }
        return [
            "kind": "assertion", "app_id": .string(appID),
            "assertion_base64": .string(Base64.encode(request.assertion)),
            "client_data_hash_base64": .string(Base64.encode(SHA256.hash(request.artifact, request.challenge))),
            "public_key_pem": .string(String(decoding: key, as: UTF8.self)),
            "previous_counter": .integer(Int64(clamping: min(refusedCounter ?? 0, UInt64(UInt32.max)))),
        ]
    }
}
