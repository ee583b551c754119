internal import AssayAppAttest
internal import AssayCore
internal import AssayCustomBackend
internal import AssayCustomToken
internal import AssayDebug
internal import AssayDeviceCheck
internal import AssayEngine
internal import AssayFleetEngine
internal import AssayOAuthClient
internal import AssaySQLite

/// The plugins of this program, and the parts of them that the command uses directly: the only place that depends on
/// them.
enum Plugins {
    static let all: [Plugin] = [
        .provider(AppAttestProvider.self),
        .provider(CustomTokenProvider.self),
        .provider(DebugProvider.self),
        .provider(DeviceCheckProvider.self),
        .consumer(CustomBackendConsumer.self),
        .consumer(FleetEngineConsumer.self),
        .consumer(OAuthClientConsumer.self),
        .store(SQLiteStore.self),
    ]

    static func registry() throws -> Registry {
        try Registry(all)
    }

    /// Verifies one sample of evidence that was kept; see `assay verify app-attest --help`.
    typealias SampleVerifier =
        (_ sample: JSON, _ place: String) throws -> (isVerified: Bool, report: JSON, explanation: String)

    /// - Throws: when an anchor is no certificate.
    static func appAttestSamples(
        trustAnchor: [UInt8]?, receiptTrustAnchor: [UInt8]?, at time: Instant?, requiresReceipt: Bool
    ) throws -> SampleVerifier {
        let samples = try AppAttestSamples(
            trustAnchor: trustAnchor, receiptTrustAnchor: receiptTrustAnchor, at: time,
            requiresReceipt: requiresReceipt)
        return { try samples.verify($0, place: $1) }
    }

    /// What a policy knows a debug token by.
    static func debugTokenHash(_ token: String) -> String {
        Hex.encode(DebugToken.hash(of: token))
    }
}
