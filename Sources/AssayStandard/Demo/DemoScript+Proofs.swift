#if Simulator
internal import AssayCore
internal import AssayCrypto
internal import AssayTesting
internal import AssayVerifier

/// What succeeds: the app proves itself and obtains tokens.
extension DemoScript {
    func playGood() async throws -> DemoSession? {
        let keyID = try phone.generateKey()
        let challenge = try await report.step("the app requests a challenge") { [client] in
            let answer = try await client.post("\(DemoPolicy.app):generateAppAttestChallenge", body: nil)
            let challenge = try answer.bytes("challenge")
            return (answer, "\(challenge.count) bytes, valid for \(try answer.text("ttl"))", challenge)
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
            return (answer, "valid for \(try answer.text("ttl"))", try answer.text("token"))
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
        return DemoSession(keyID: keyID, artifact: artifact, challenge: challenge, token: token, verifier: verifier)
    }
}
#endif
