#if Simulator
internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayTesting

/// What a phone with Android does, without Google's services.
extension DemoScript {
    func playAndroid() async throws {
        let phone = try android.device()
        let attested = try await report.step("a phone with Android attests its key") { [self] in
            let (answer, key) = try await attest(phone)
            let artifact = try answer.bytes("artifact")
            return (answer, "an artifact of \(artifact.count) bytes, a token for 1 hour", (artifact, key))
        }
        guard let (artifact, key) = attested else { return }
        _ = try await report.step("it signs with the key for another token") { [client] in
            let challenge = try await Self.challenge(client)
            let assertion = try key.assertion(package: phone.state.package, counter: 1, of: artifact + challenge)
            let answer = try await client.post(
                "\(DemoPolicy.android):exchangeAndroidKeyAssertion",
                body: [
                    "artifact": .string(Base64.encode(artifact)), "assertion": .string(Base64.encode(assertion)),
                    "challenge": .string(Base64.encode(challenge)),
                ])
            return (answer, "valid for \(try answer.text("ttl"))", ())
        }
    }

    func playGooglePlay() async throws {
        _ = try await report.step("an app from Google Play shows Play's word") { [self] in
            let answer = try await exchangePlay()
            return (answer, "valid for \(try answer.text("ttl"))", ())
        }
    }

    func playBadAndroid() async throws {
        let unlocked = SimulatedAndroidState.with { ($0.isLocked, $0.bootState) = (false, 2) }
        try await refused("a phone with an unlocked boot loader", "android_bootloader_unlocked") { [self] in
            try await attest(android.device(unlocked)).answer
        }
        let changed = SimulatedAndroidState.with { $0.signingDigest = SHA256.hash($0.signingDigest) }
        try await refused("an app for Android that was signed anew", "android_signer_mismatch") { [self] in
            try await attest(android.device(changed)).answer
        }
        try await refused("a certificate that an attested key signed", "android_chain_extended") { [self] in
            let phone = try android.device()
            let challenge = try await Self.challenge(client)
            let attested = try phone.makeKey(challenge: challenge)
            let forged = try phone.makeKey(challenge: challenge, signedBy: attested.key)
            return try await exchange([forged.chain[0]] + attested.chain, challenge)
        }
        try await refused("an app that Google Play does not recognise", "play_app_unrecognized") { [self] in
            try await exchangePlay { $0.recognition = "UNRECOGNIZED_VERSION" }
        }
    }

    /// A classic token for a new challenge, opened with the app's own keys.
    private func exchangePlay(_ change: (inout SimulatedPlayVerdict) -> Void = { _ in }) async throws
        -> DemoClient.Answer
    {
        let challenge = try await client.post("\(DemoPolicy.android):generatePlayIntegrityChallenge", body: nil)
        var verdict = SimulatedPlayVerdict(nonce: try challenge.text("challenge"), made: HostClock.system.now)
        change(&verdict)
        return try await client.post(
            "\(DemoPolicy.android):exchangePlayIntegrityToken",
            body: ["play_integrity_token": .string(try play.classicToken(verdict))])
    }

    private func attest(
        _ phone: SimulatedAndroidDevice
    ) async throws -> (answer: DemoClient.Answer, key: SimulatedAndroidDevice.Key) {
        let challenge = try await Self.challenge(client)
        let key = try phone.makeKey(challenge: challenge)
        return (try await exchange(key.chain, challenge), key)
    }

    private func exchange(_ chain: [[UInt8]], _ challenge: [UInt8]) async throws -> DemoClient.Answer {
        try await client.post(
            "\(DemoPolicy.android):exchangeAndroidKeyAttestation",
            body: [
                "attestation_chain": .array(chain.map { .string(Base64.encode($0)) }),
                "challenge": .string(Base64.encode(challenge)),
            ])
    }

    private static func challenge(_ client: DemoClient) async throws -> [UInt8] {
        try await client.post("\(DemoPolicy.android):generateAndroidKeyChallenge", body: nil).bytes("challenge")
    }
}

extension SimulatedAndroidState {
    fileprivate static func with(_ change: (inout SimulatedAndroidState) -> Void) -> SimulatedAndroidState {
        var state = SimulatedAndroidState()
        change(&state)
        return state
    }
}
#endif
