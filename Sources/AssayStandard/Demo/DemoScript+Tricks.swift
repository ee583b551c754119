#if Simulator
internal import AssayCBOR
internal import AssayCore
internal import AssayEngine
internal import AssayTesting

/// The steps that must fail: invalid proofs and invalid tokens.
extension DemoScript {
    func playBad(_ session: DemoSession) async throws {
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
        try await refused("a device with an untrusted root", "intermediate_not_by_root") { [self] in
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
}
#endif
