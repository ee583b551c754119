internal import AssayAndroidKey
internal import AssayCore
internal import AssayCrypto
internal import AssayRequestProof
internal import AssayTesting

/// Evidence of a simulated Android phone.
enum AndroidKeyBenchmarks {
    static let all = [
        Benchmark(names: ["android.attestation.verify"], run: attestation),
        Benchmark(names: ["android.assertion.verify"], run: assertion),
    ]

    /// The certificates of a key, read and verified, of a device whose own certificate was verified before: one signature.
    private static func attestation(for time: Duration) async throws -> [ReportLine] {
        let now = HostClock.system.now
        let authority = try SimulatedAndroidAuthority(now: now)
        let key = try authority.device().makeKey(challenge: Array("a challenge".utf8))
        let roots = try PEM.blocks("CERTIFICATE", in: Array(authority.rootPEM.utf8)).map { try TrustAnchor(der: $0) }
        let verifier = AndroidKeyVerifier(roots: roots)
        let verification = Operation { try verifier.verify(verifier.read(key.chain), at: now) }
        let bare = try BareCall.verification(with: SimulatedKey(.p256))
        let rates = try await Interleaved.rates([verification, bare], for: time)
        return [ReportLine("android.attestation.verify", rate: rates[0], limit: rates[1], needed: 0.75)]
    }

    /// An assertion, read and verified with a key that was used before: one signature.
    private static func assertion(for time: Duration) async throws -> [ReportLine] {
        let package = "com.example.app"
        let message = Array("an artifact and a challenge".utf8)
        let key = try SimulatedAndroidAuthority(now: HostClock.system.now).device().makeKey(challenge: message)
        let evidence = try key.assertion(package: package, counter: 1, of: message)
        let (publicKey, digest) = (key.key.point, SHA256.hash(message))
        let relyingPartyHash = SHA256.hash(Array(package.utf8))
        let verification = Operation {
            guard let assertion = DeviceAssertion(evidence), assertion.relyingPartyHash == relyingPartyHash,
                assertion.isSigned(by: publicKey, over: digest)
            else { throw BenchmarkFailure("the assertion is refused") }
        }
        let rates = try await Interleaved.rates([verification, try BareCall.verification(with: key.key)], for: time)
        return [ReportLine("android.assertion.verify", rate: rates[0], limit: rates[1], needed: 0.8)]
    }
}
