internal import AssayCBOR
internal import AssayCrypto
internal import AssayEngine
internal import AssayKit
internal import AssayTesting
internal import AssayVerifier

/// What happens in the demonstration, step by step.
final class DemoScript {
    private let client: DemoClient
    private let server: DemoServer
    private let phone: SimulatedDevice
    private let olderPhone: SimulatedDevice
    private let debugToken: String
    private let app = SimulatedApp(appID: DemoPolicy.appID, environment: .production)
    private let report = DemoReport()

    init(base: String, server: DemoServer, authority: SimulatedAppleCA, debugToken: String) {
        client = DemoClient(base: base)
        self.server = server
        phone = SimulatedDevice(authority: authority, system: .iOS27)
        olderPhone = SimulatedDevice(authority: authority, system: .iOS26)
        self.debugToken = debugToken
    }

    /// Plays all steps; returns whether each ended as it should.
    func play() async throws -> Bool {
        try Terminal.say("Assay serves \(client.base)/v1/\(DemoPolicy.app)\n")
        try Terminal.say("A genuine app proves itself:")
        guard let session = try await playGood() else { return try report.end() }
        try Terminal.say("\nEvery trick is refused:")
        try await playBad(session)
        return try report.end()
    }

    /// What the good steps leave for the bad ones.
    private struct Session {
        let keyID: String
        let artifact: [UInt8]
        let challenge: [UInt8]
        let token: String
        let verifier: TokenVerifier
    }

    // MARK: What succeeds

    private func playGood() async throws -> Session? {
        let keyID = try phone.generateKey()
        let challenge = try await report.step("the app takes a challenge") { [client] in
            let answer = try await client.post("\(DemoPolicy.app):generateAppAttestChallenge", body: nil)
            let challenge = try answer.bytes("challenge")
            return (answer, "\(challenge.count) bytes, good for \(try answer.text("ttl"))", challenge)
        }
        guard let challenge else { return nil }
        let attested = try await report.step("an iPhone with iOS 27 attests its key") { [self] in
            let answer = try await attest(phone, keyID, challenge)
            let artifact = try answer.bytes("artifact")
            let token = try answer.body["appCheckToken"]?["token"]?.string ?? answer.text("token")
            return (answer, "an artifact of \(artifact.count) bytes, a token for 1 hour", (artifact, token))
        }
        guard let (artifact, token) = attested else { return nil }
        let verifier = try await report.step("a backend fetches the key set") { [client] in
            let answer = try await client.get("jwks")
            let keys = try JWKSet(json: answer.body.encoded)
            return (answer, keys.keys.compactMap(\.keyID).joined(separator: ", "), TokenVerifier(keys: keys))
        }
        guard let verifier else { return nil }
        try report.verified("the token is verified against it", token, verifier)

        let asserted = try await report.step("the app asserts its key for another token") { [self] in
            let answer = try await assert(phone, keyID, artifact)
            return (answer, "good for \(try answer.text("ttl"))", try answer.text("token"))
        }
        if let asserted { try report.verified("that token is verified, too", asserted, verifier) }
        _ = try await report.step("a limited-use token") { [self] in
            let answer = try await assert(phone, keyID, artifact, limitedUse: true)
            guard try answer.text("ttl") == "300s" else { throw DemoFailure("it lives \(try answer.text("ttl"))") }
            return (answer, "good for 300s", ())
        }
        _ = try await report.step("an iPhone with iOS 26, where the format differs") { [self] in
            let answer = try await attest(olderPhone, try olderPhone.generateKey(), client.challenge(DemoPolicy.app))
            return (answer, "an artifact of \(try answer.bytes("artifact").count) bytes", ())
        }
        _ = try await report.step("the OAuth client that is linked to the app") { [self] in
            let challenge = try await client.challenge(DemoPolicy.client)
            let answer = try await attest(phone, try phone.generateKey(), challenge, resource: DemoPolicy.client)
            return (answer, "an artifact of \(try answer.bytes("artifact").count) bytes", ())
        }
        _ = try await report.step("a simulator's debug token") { [client, debugToken] in
            let answer = try await client.post(
                "\(DemoPolicy.app):exchangeDebugToken", body: ["debug_token": .string(debugToken)])
            return (answer, "a token that says provider: debug", ())
        }
        return Session(keyID: keyID, artifact: artifact, challenge: challenge, token: token, verifier: verifier)
    }

    // MARK: What fails

    private func playBad(_ session: Session) async throws {
        try await refused("a challenge used twice", "challenge_already_used") { [self] in
            try await attest(phone, try phone.generateKey(), session.challenge)
        }
        try await refused("another app's challenge", "challenge_for_another_app") { [self] in
            try await attest(phone, try phone.generateKey(), client.challenge(DemoPolicy.client))
        }
        try await refused("an altered challenge", "challenge_forged") { [self] in
            var challenge = try await client.challenge(DemoPolicy.app)
            challenge[challenge.count - 1] ^= 1
            return try await attest(phone, try phone.generateKey(), challenge)
        }
        try await refused("an altered attestation", "nonce_mismatch") { [self] in
            var options = AttestationOptions()
            options.object = { object in
                guard case .bytes(var data)? = object.last?.value, !data.isEmpty else { return }
                data[data.count - 1] ^= 1
                object[object.count - 1] = CBORPair(.text("authData"), .bytes(data))
            }
            return try await attest(
                phone, try phone.generateKey(), client.challenge(DemoPolicy.app), options: options)
        }
        try await refused("a device that nobody vouches for", "intermediate_not_by_root") { [self] in
            let stranger = SimulatedDevice(authority: try SimulatedAppleCA(at: HostClock.system.now))
            return try await attest(stranger, try stranger.generateKey(), client.challenge(DemoPolicy.app))
        }
        try await refused("a counter rolled back", "counter_not_advanced") { [self] in
            var options = AssertionOptions()
            options.authenticatorData = { $0.counter = 1 }
            return try await assert(phone, session.keyID, session.artifact, options: options)
        }
        try await refused("an assertion by another key", "assertion_signature_invalid") { [self] in
            try await assert(phone, try phone.generateKey(), session.artifact)
        }
        try await refused("an artifact of another app", "artifact_invalid") { [self] in
            try await assert(phone, session.keyID, session.artifact, resource: DemoPolicy.client)
        }
        try await refused("an unknown debug token", "debug_token_unknown") { [client] in
            try await client.post("\(DemoPolicy.app):exchangeDebugToken", body: ["debug_token": "something else"])
        }
        try report.refused("an expired token", session.token, session.verifier, "token_expired", after: .seconds(3601))
        try report.refused(
            "a token whose claims were altered", DemoScript.altered(session.token), session.verifier, "token_signature")
    }

    private func refused(
        _ title: String, _ code: String, _ attempt: @escaping () async throws -> DemoClient.Answer
    ) async throws {
        try await report.refused(title, code, reason: { [server] in server.reason(of: $0) }, attempt)
    }

    // MARK: The device's part

    private func attest(
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

    private func assert(
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

    /// A token whose subject is somebody else's app, with the signature of the genuine one.
    private static func altered(_ token: String) -> String {
        var parts = token.split(separator: ".").map(String.init)
        guard parts.count == 3, let payload = Base64.decode(parts[1]),
            let claims = (try? JSON.parse(payload))?.members
        else { return token }
        let changed = claims.map { $0.name == "sub" ? JSONMember("sub", "1:1234567890:ios:0000000000000000") : $0 }
        parts[1] = Base64.encodeURL(JSON.object(changed).encoded)
        return parts.joined(separator: ".")
    }
}
