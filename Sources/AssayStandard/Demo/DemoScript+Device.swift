#if Simulator
internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayTesting

/// The device's part.
extension DemoScript {
    func attest(
        _ device: SimulatedDevice, _ keyID: String, _ challenge: [UInt8], resource: String = DemoPolicy.app,
        options: AttestationOptions = AttestationOptions()
    ) async throws -> DemoClient.Answer {
        let attestation = try device.attestKey(
            keyID, clientDataHash: SHA256.hash(challenge), app: app, at: HostClock.system.now, options: options)
        return try await client.post(
            "\(resource):exchangeAppAttestAttestation",
            body: [
                "key_id": .string(keyID), "attestation_statement": .string(Base64.encode(attestation)),
                "challenge": .string(Base64.encode(challenge)), "limited_use": false,
            ])
    }

    func assert(
        _ device: SimulatedDevice, _ keyID: String, _ artifact: [UInt8], resource: String = DemoPolicy.app,
        limitedUse: Bool = false, options: AssertionOptions = AssertionOptions()
    ) async throws -> DemoClient.Answer {
        let challenge = try await client.challenge(resource)
        let assertion = try device.generateAssertion(
            keyID, clientDataHash: SHA256.hash(artifact, challenge), app: app, options: options)
        return try await client.post(
            "\(resource):exchangeAppAttestAssertion",
            body: [
                "artifact": .string(Base64.encode(artifact)), "assertion": .string(Base64.encode(assertion)),
                "challenge": .string(Base64.encode(challenge)), "limited_use": .bool(limitedUse),
            ])
    }

    /// A token whose subject is another app, with the signature of the genuine one.
    static func altered(_ token: String) -> String {
        var parts = token.split(separator: ".").map(String.init)
        guard parts.count == 3, let payload = Base64.decode(parts[1]),
            let claims = (try? JSON.parse(payload))?.members
        else { return token }
        let changed = claims.map { $0.name == "sub" ? JSONMember("sub", "1:1234567890:ios:0000000000000000") : $0 }
        parts[1] = Base64.encodeURL(JSON.object(changed).encoded)
        return parts.joined(separator: ".")
    }
}
#endif
