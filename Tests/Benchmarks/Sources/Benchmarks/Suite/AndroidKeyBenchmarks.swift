internal import AssayAndroidKey
internal import AssayCore
internal import AssayCrypto
internal import AssayTesting

/// Evidence of a simulated Android phone.
enum AndroidKeyBenchmarks {
    static let all = [Benchmark(names: ["android.attestation.verify"], run: attestation)]

    /// The certificates of a key, read and verified, of a device whose own certificate was verified before: one signature.
    private static func attestation(for time: Duration) async throws -> [ReportLine] {
        let now = HostClock.system.now
        let authority = try SimulatedAndroidAuthority(now: now)
        let key = try authority.device().makeKey(challenge: Array("a challenge".utf8))
        let roots = try PEM.blocks("CERTIFICATE", in: Array(authority.rootPEM.utf8)).map { try TrustAnchor(der: $0) }
        let verifier = AndroidKeyVerifier(roots: roots)
        let verification = Operation { try verifier.verify(verifier.read(key.chain), at: now) }
        let message = Array("a message".utf8)
        let other = try SimulatedKey(.p256)
        let bare = try BareCall.verification(
            .ec(ECPublicKey(curve: .p256, x963: other.point)), message: message,
            signature: other.sign(message, digest: .sha256)
        ).operation
        let rates = try await Interleaved.rates([verification, bare], for: time)
        return [ReportLine("android.attestation.verify", rate: rates[0], limit: rates[1], needed: 0.75)]
    }
}
