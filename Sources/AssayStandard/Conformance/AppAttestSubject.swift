#if Simulator
internal import AssayAppAttest
internal import AssayCBOR
internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayTesting

extension ProviderSubject {
    /// Devices that a simulated Apple trusts.
    static func appAttest() throws -> ProviderSubject {
        let devices = try AttestedDevices()
        let challenges = AttestedDevices.challenges
        return ProviderSubject(
            exchanges: [
                Exchange(
                    AttestedDevices.attestation, challengeMethod: challenges,
                    adversaries: devices.attestationAdversaries
                ) { try devices.attestation($0) },
                Exchange(
                    AttestedDevices.assertion, challengeMethod: challenges, adversaries: devices.assertionAdversaries
                ) { try await devices.assertion($0) },
            ],
            section: { _ in "receipts: required\n\(devices.roots)" },
            wrongSections: [
                "trust_anchor: no certificate # wrong", "environments: [production, testing] # wrong",
                "receipts: sometimes # wrong", "token_ttl: 1m # wrong",
            ],
            app: { "apple: {team_id: ABCDE12345, bundle_id: com.example.app\($0.rawValue)}" },
            simulator: AppAttestSimulator())
    }
}

/// Devices of a simulated Apple, one of another authority, and what goes wrong with them.
private struct AttestedDevices: Sendable {
    static let challenges = "generateAppAttestChallenge"
    static let attestation = "exchangeAppAttestAttestation"
    static let assertion = "exchangeAppAttestAssertion"

    private let authority: SimulatedAppleCA
    private let device: SimulatedDevice
    /// A device that another authority certifies.
    private let stranger: SimulatedDevice

    init() throws {
        let now = ManualClock().now
        authority = try SimulatedAppleCA(at: now)
        device = SimulatedDevice(authority: authority)
        stranger = SimulatedDevice(authority: try SimulatedAppleCA(at: now))
    }

    /// The keys of the section that trust the authority.
    var roots: String {
        [
            ("trust_anchor", authority.rootCertificatePEM),
            ("receipt_trust_anchor", authority.receiptRootCertificatePEM),
        ]
        .map { "\($0): \"\($1.replacing("\n", with: "\\n"))\"" }.joined(separator: "\n")
    }

    private func app(
        _ app: TestApp, environment: SimulatedEnvironment = .production
    ) -> SimulatedApp {
        SimulatedApp(appID: "ABCDE12345.com.example.app\(app.rawValue)", environment: environment)
    }

    // MARK: - Attestations

    /// - Parameters:
    ///   - challenge: the challenge that the key is attested for; nil for that of the request.
    ///   - named: the key that the request names; nil for the attested one.
    func attestation(
        _ client: TestDevice, by other: SimulatedDevice? = nil, app: SimulatedApp? = nil, challenge: [UInt8]? = nil,
        named: String? = nil, requested: [UInt8]? = nil, options: AttestationOptions = AttestationOptions()
    ) throws -> JSON {
        let device = other ?? device
        let keyID = try device.generateKey()
        return try attestation(
            of: keyID, client, by: device, app: app ?? self.app(client.app), challenge: challenge ?? client.challenge,
            named: named ?? keyID, requested: requested ?? client.challenge, options: options)
    }

    private func attestation(
        of keyID: String, _ client: TestDevice, by device: SimulatedDevice, app: SimulatedApp, challenge: [UInt8],
        named: String, requested: [UInt8], options: AttestationOptions = AttestationOptions()
    ) throws -> JSON {
        let attestation = try device.attestKey(
            keyID, clientDataHash: SHA256.hash(challenge), app: app, at: client.now, options: options)
        return [
            "keyId": .string(named), "attestationStatement": .string(Base64.encode(attestation)),
            "challenge": .string(Base64.encode(requested)),
        ]
    }

    var attestationAdversaries: [Adversary: AdversaryEvidence<TestDevice, JSON>] {
        [
            .wrongAuthority: .request { try attestation($0, by: stranger) },
            .otherKey: .request { try attestation($0, named: device.generateKey()) },
            .otherApp: .request { try attestation($0, app: app(.second)) },
            .untrustedDevice: .request { try attestation($0, app: app($0.app, environment: .development)) },
            .otherChallenge: .request { client in
                try await attestation(client, challenge: client.makeChallenge(Self.challenges))
            },
            .expired: .request { client in
                var options = AttestationOptions()
                options.leaf = { leaf in
                    (leaf.notBefore, leaf.notAfter) = (client.now - .seconds(7200), client.now - .seconds(3600))
                }
                return try attestation(client, options: options)
            },
            .future: .request { client in
                var options = AttestationOptions()
                options.leaf = { $0.notBefore = client.now + .seconds(3600) }
                return try attestation(client, options: options)
            },
            .malformed: .request { client in
                var options = AttestationOptions()
                options.object = { object in object.removeAll { $0.key == .text("fmt") } }
                return try attestation(client, options: options)
            },
            .downgraded: .request { client in
                var options = AttestationOptions()
                options.statement = { statement in statement.removeAll { $0.key == .text("receipt") } }
                return try attestation(client, options: options)
            },
        ]
    }

    // MARK: - Assertions

    /// - Parameters:
    ///   - challenge: the challenge that is signed; nil for that of the request.
    ///   - isOtherKey: whether a key signs that was not attested.
    func assertion(
        _ client: TestDevice, app: SimulatedApp? = nil, challenge: [UInt8]? = nil, isOtherKey: Bool = false,
        options: AssertionOptions = AssertionOptions()
    ) async throws -> JSON {
        let keyID = try device.generateKey()
        let first = try await client.makeChallenge(Self.challenges)
        let attested = try await client.call(
            Self.attestation,
            attestation(
                of: keyID, client, by: device, app: self.app(client.app), challenge: first, named: keyID,
                requested: first))
        guard let artifact = attested["artifact"]?.string.flatMap({ Base64.decode($0) }) else {
            throw MissingField(description: "the reply to an attestation has no artifact")
        }
        let assertion = try device.generateAssertion(
            isOtherKey ? device.generateKey() : keyID,
            clientDataHash: SHA256.hash(artifact, challenge ?? client.challenge), app: app ?? self.app(client.app),
            options: options)
        return [
            "artifact": .string(Base64.encode(artifact)), "assertion": .string(Base64.encode(assertion)),
            "challenge": .string(Base64.encode(client.challenge)),
        ]
    }

    var assertionAdversaries: [Adversary: AdversaryEvidence<TestDevice, JSON>] {
        [
            .wrongAuthority: .impossible("an assertion has no certificate: its key was attested before"),
            .otherKey: .request { try await assertion($0, isOtherKey: true) },
            .otherApp: .request { try await assertion($0, app: app(.second)) },
            .untrustedDevice: .impossible("an assertion says nothing of the device that the attestation did not"),
            .otherChallenge: .request { client in
                try await assertion(client, challenge: client.makeChallenge(Self.challenges))
            },
            .expired: .impossible("an assertion has no time but that of its challenge"),
            .future: .impossible("an assertion has no time but that of its challenge"),
            .malformed: .request { client in
                var options = AssertionOptions()
                options.object = { object in object.removeAll { $0.key == .text("authenticatorData") } }
                return try await assertion(client, options: options)
            },
            .downgraded: .impossible("an assertion has one algorithm and one format"),
            Adversary("counter", "an assertion whose counter does not rise gets no token"): .request { client in
                var options = AssertionOptions()
                options.authenticatorData = { $0.counter = 0 }
                return try await assertion(client, options: options)
            },
        ]
    }

    /// A reply that lacks something.
    private struct MissingField: Error, CustomStringConvertible {
        let description: String
    }
}
#endif
