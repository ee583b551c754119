#if Simulator
internal import AssayAppAttest
internal import AssayApple
internal import AssayCBOR
internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayKit
internal import AssayPolicyTools
internal import AssayTesting
internal import Synchronization

/// Devices whose keys a simulated Apple certifies, for tests of policies.
struct AppAttestSimulator: EvidenceSimulator {
    let provider = "app_attest"
    let methods = [attestation, assertion]

    private static let attestation = "exchangeAppAttestAttestation"
    private static let assertion = "exchangeAppAttestAssertion"
    private static let challenges = "generateAppAttestChallenge"

    let properties = [
        EvidenceProperty(
            FactName("environment", .words(["development", "production"])),
            "The App Attest environment of the key; `production` when absent."),
        EvidenceProperty(FactName("os_version", .version), "The version of the operating system."),
        EvidenceProperty(
            FactName("family", .words(["ios", "macos"])), "The kind of operating system; `ios` when absent."),
        EvidenceProperty(FactName("team_id", .text), "The team of the app; that of the policies when absent."),
        EvidenceProperty(
            FactName("app_id_prefix", .text),
            "The App ID prefix of the app; `team_id` or that of the policies when absent."),
        EvidenceProperty(
            FactName("bundle_id", .text), "The bundle identifier of the app; that of the policies when absent."),
        EvidenceProperty(FactName("bundle_version", .version), "The version of the app's bundle."),
        EvidenceProperty(
            FactName("validation_category", .words(categories.map { ExactText($0.word) })),
            "How the system came to trust the app, on iOS 27 and macOS 27."),
        EvidenceProperty(FactName("key_age", .duration), "How long ago the key was attested, for an assertion."),
    ]

    let changes = [
        EvidenceChange(
            "challenge", ["replay", "forged", "expired"],
            "The challenge: one that was used before, one that another service made, or one that is too old."),
        EvidenceChange(
            "certificate", ["untrusted"], of: [attestation], "The certificate: one of an authority that nobody trusts."),
        EvidenceChange("attestation", ["altered"], of: [attestation], "The attestation: one with a changed bit."),
        EvidenceChange(
            "receipt", ["altered", "missing", "other_device"], of: [attestation],
            "The receipt: one with a changed bit, none, or that of another device."),
        EvidenceChange("counter", ["replay"], of: [assertion], "The counter: one that was used before."),
        EvidenceChange("key", ["other"], of: [assertion], "The key that signs: one that was not attested."),
        EvidenceChange("artifact", ["altered"], of: [assertion], "The artifact: one with a changed bit."),
        EvidenceChange("assertion", ["altered"], of: [assertion], "The assertion: one with a changed bit."),
    ]

    private static let categories: [(word: String, category: ValidationCategory)] = [
        ("system", .system), ("test_flight", .testFlight), ("development", .development), ("app_store", .appStore),
        ("enterprise", .enterprise), ("developer_id", .developerID),
    ]

    /// Longer than a challenge is good.
    private static let tooLong = Duration.seconds(400)

    func begin(_ order: EvidenceOrder) throws -> EvidenceSession {
        let isAssertion = order.method.isExactly(Self.assertion)
        let isLate = order.changes("challenge", "expired")
        let age = isAssertion ? order.duration("key_age") ?? .zero : .zero
        let start = order.now - age - (isLate ? Self.tooLong : .zero)
        let authority = try SimulatedAppleCA(at: start)
        // Any key of the team will do: nobody is called.
        let team = try SimulatedAppleTeam(teamID: "SIMULATED1")
        let client = AttestingClient(
            authority: authority, device: SimulatedDevice(authority: authority, system: system(order)),
            stranger: SimulatedDevice(authority: try SimulatedAppleCA(at: start), system: system(order)),
            app: try app(order), order: order, start: start)
        return EvidenceSession(
            overlay: [
                "trust_anchor": .string(authority.rootCertificatePEM),
                "receipt_trust_anchor": .string(authority.receiptRootCertificatePEM),
            ], secrets: SecretSource { _ in Array(team.privateKeyPEM.utf8) }, start: start
        ) { calls in
            let body =
                isAssertion ? try await client.assertion(calls, age: age) : try await client.attestation(calls)
            if isLate { calls.pass(Self.tooLong) }
            return body
        }
    }

    private func system(_ order: EvidenceOrder) -> SimulatedSystem {
        let version = order.text("os_version")
        let major = version.flatMap { $0.split(onASCII: ".").first.flatMap { Int($0) } }
        var system: SimulatedSystem
        if order.text("family").isExactly("macos") {
            system = .macOS27
        } else {
            system = (major ?? 27) < 27 ? .iOS26 : .iOS27
        }
        if let version { system.version = version }
        return system
    }

    private func app(_ order: EvidenceOrder) throws -> SimulatedApp {
        let apple = order.app.platform(AppleIdentity.self)
        let prefix = order.text("app_id_prefix") ?? order.text("team_id") ?? apple?.appIDPrefix
        let bundle = order.text("bundle_id") ?? apple?.bundleID
        let category = order.text("validation_category").flatMap { word in
            Self.categories.first { $0.word.isExactly(word) }?.category.rawValue
        }
        return SimulatedApp(
            appID: "\(prefix ?? "").\(bundle ?? "")",
            environment: order.text("environment").isExactly("development") ? .development : .production,
            bundleVersion: order.text("bundle_version") ?? "1", validationCategory: category)
    }

    /// A client on one device.
    private struct AttestingClient: Sendable {
        let authority: SimulatedAppleCA
        let device: SimulatedDevice
        /// A device of another authority.
        let stranger: SimulatedDevice
        let app: SimulatedApp
        let order: EvidenceOrder
        let start: Instant

        func attestation(_ calls: EvidenceCalls) async throws -> JSON {
            let device = order.changes("certificate", "untrusted") ? stranger : device
            let challenge = try await challenge(calls)
            var options = options
            if order.changes("receipt", "other_device") {
                let receipt = try receiptOfOtherDevice(challenge)
                options.receiptBytes = { $0 = receipt }
            }
            return try attestation(of: device.generateKey(), on: device, challenge, options)
        }

        /// The receipt in the attestation of another device of the same authority, for the same challenge.
        private func receiptOfOtherDevice(_ challenge: [UInt8]) throws -> [UInt8] {
            let receipt = Mutex<[UInt8]>([])
            var options = AttestationOptions()
            options.receiptBytes = { bytes in receipt.withLock { $0 = bytes } }
            let other = SimulatedDevice(authority: authority, system: device.system)
            _ = try attestation(of: other.generateKey(), on: other, challenge, options)
            return receipt.withLock(\.self)
        }

        func assertion(_ calls: EvidenceCalls, age: Duration) async throws -> JSON {
            let keyID = try device.generateKey()
            let first = try await calls.challenge(AppAttestSimulator.challenges)
            let reply = try await calls.call(
                AppAttestSimulator.attestation, attestation(of: keyID, on: device, first, AttestationOptions()))
            var artifact = reply["artifact"]?.string.flatMap { Base64.decode($0) } ?? []
            calls.pass(age)
            if order.changes("counter", "replay") {
                let challenge = try await calls.challenge(AppAttestSimulator.challenges)
                _ = try await calls.call(
                    AppAttestSimulator.assertion, assertion(by: keyID, artifact, challenge, AssertionOptions()))
            }
            let challenge = try await challenge(calls)
            var options = AssertionOptions()
            if order.changes("counter", "replay") { options.authenticatorData = { $0.counter = 1 } }
            if order.changes("assertion", "altered") { options.message = { Self.flip(&$0) } }
            if order.changes("artifact", "altered") { Self.flip(&artifact) }
            let signer = order.changes("key", "other") ? try device.generateKey() : keyID
            return try assertion(by: signer, artifact, challenge, options)
        }

        /// The challenge of the evidence, changed if the test says so.
        private func challenge(_ calls: EvidenceCalls) async throws -> [UInt8] {
            var challenge = try await calls.challenge(AppAttestSimulator.challenges)
            if order.changes("challenge", "replay") {
                _ = try await calls.call(
                    AppAttestSimulator.attestation,
                    attestation(of: device.generateKey(), on: device, challenge, AttestationOptions()))
            }
            if order.changes("challenge", "forged") { Self.flip(&challenge) }
            return challenge
        }

        private var options: AttestationOptions {
            var options = AttestationOptions()
            if order.changes("attestation", "altered") {
                options.object = { object in
                    guard case .bytes(var data)? = object["authData"] else { return }
                    Self.flip(&data)
                    object["authData"] = .bytes(data)
                }
            }
            if order.changes("receipt", "altered") { options.receiptBytes = { Self.flip(&$0, fromEnd: 40) } }
            if order.changes("receipt", "missing") { options.statement = { $0["receipt"] = nil } }
            return options
        }

        private func attestation(
            of keyID: String, on device: SimulatedDevice, _ challenge: [UInt8], _ options: AttestationOptions
        ) throws -> JSON {
            let attestation = try device.attestKey(
                keyID, clientDataHash: SHA256.hash(challenge), app: app, at: start, options: options)
            return [
                "keyId": .string(keyID), "attestationStatement": .string(Base64.encode(attestation)),
                "challenge": .string(Base64.encode(challenge)),
            ]
        }

        private func assertion(
            by keyID: String, _ artifact: [UInt8], _ challenge: [UInt8], _ options: AssertionOptions
        ) throws -> JSON {
            let assertion = try device.generateAssertion(
                keyID, clientDataHash: SHA256.hash(artifact, challenge), app: app, options: options)
            return [
                "artifact": .string(Base64.encode(artifact)), "assertion": .string(Base64.encode(assertion)),
                "challenge": .string(Base64.encode(challenge)),
            ]
        }

        /// Changes one bit near the end; the signature of a receipt is within its last 80 bytes.
        private static func flip(_ bytes: inout [UInt8], fromEnd distance: Int = 1) {
            if bytes.count >= distance { bytes[bytes.count - distance] ^= 1 }
        }
    }
}
#endif
