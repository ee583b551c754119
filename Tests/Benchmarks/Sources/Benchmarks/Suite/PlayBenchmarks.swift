internal import AssayCore
internal import AssayCrypto
internal import AssayTesting

/// Classic tokens of Google's Play Integrity.
enum PlayBenchmarks {
    static let all = [Benchmark(names: ["play.open"], run: open)]

    /// A token opened with the app's keys, and its signature verified: one signature.
    private static func open(for time: Duration) async throws -> [ReportLine] {
        let service = try SimulatedPlayService(clock: .system)
        let verdict = SimulatedPlayVerdict(nonce: "a-nonce-of-16-characters", made: HostClock.system.now)
        let token = Array(try service.classicToken(verdict).utf8)
        let lines = service.keyFile.split(separator: "\n").compactMap { $0.split(separator: "=", maxSplits: 1).last }
        guard lines.count == 2, let decryption = Base64.decode(lines[0]),
            case .ec(let key) = try PublicKey(
                pem: Array("-----BEGIN PUBLIC KEY-----\n\(lines[1])\n-----END PUBLIC KEY-----\n".utf8))
        else { throw BenchmarkFailure("no keys") }
        let secret = SecretBytes(decryption)
        let verification = Operation {
            let signed = try CompactJWS.parse(utf8: KeyWrappedJWE.parse(utf8: token[...]).decrypt(with: secret)[...])
            try signed.verify(with: .ec(key))
        }
        let bare = try BareCall.verification(with: SimulatedKey(.p256))
        let rates = try await Interleaved.rates([verification, bare], for: time)
        return [ReportLine("play.open", rate: rates[0], limit: rates[1])]
    }
}
