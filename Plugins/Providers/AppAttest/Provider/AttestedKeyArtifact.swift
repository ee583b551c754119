internal import AssayCrypto
internal import AssayKit

/// What is sealed into an artifact: an attested key and how it came to be.
///
/// Artifacts live as long as an app stays installed, so that every version of this layout stays readable:
///
///     1 ‖ environment (0 development, 1 production) ‖ milliseconds since 1970, 8 bytes ‖ 04 ‖ X ‖ Y
struct AttestedKeyArtifact: Equatable {
    private static let version: UInt8 = 1
    private static let count = 75

    /// `04 ‖ X ‖ Y` on P-256.
    let publicKey: [UInt8]
    let environment: AppAttestEnvironment
    /// When the attestation was verified.
    let attested: Instant

    init(publicKey: [UInt8], environment: AppAttestEnvironment, attested: Instant) {
        self.publicKey = publicKey
        self.environment = environment
        self.attested = attested
    }

    init?(encoded bytes: [UInt8]) {
        guard bytes.count == Self.count, bytes[0] == Self.version, bytes[1] <= 1 else { return nil }
        environment = bytes[1] == 0 ? .development : .production
        let milliseconds = bytes[2..<10].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        attested = Instant(milliseconds: Int64(bitPattern: milliseconds))
        publicKey = Array(bytes[10...])
    }

    var encoded: [UInt8] {
        let milliseconds = UInt64(bitPattern: attested.milliseconds)
        return [Self.version, environment == .development ? 0 : 1]
            + (0..<8).map { UInt8(truncatingIfNeeded: milliseconds >> UInt64(56 - 8 * $0)) } + publicKey
    }

    /// What the key's counter is stored under: its identifier.
    var counterName: String { "counter/\(Hex.encode(SHA256.hash(publicKey)))" }
}
