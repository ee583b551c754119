public import AssayEngine
public import AssayKit

#if Simulator
internal import AssayAndroidKey
internal import AssayAppAttest
internal import AssayCustomBackend
internal import AssayCustomToken
internal import AssayDebug
internal import AssayDeviceCheck
internal import AssayFleetEngine
internal import AssayHCaptcha
internal import AssayOAuthClient
internal import AssayPlayIntegrity
public import AssayPolicyTools
internal import AssayPrivacyPass
internal import AssayPrivateToken
internal import AssayRecaptchaEnterprise
internal import AssayRecaptchaV3
internal import AssayTesting
internal import AssayTurnstile

extension [any ConformanceSuite] {
    /// The suites of the plugins that come with Assay, with their simulated devices and clients.
    ///
    /// - Throws: `CryptoError` when no keys can be made.
    public static var standard: [any ConformanceSuite] {
        get throws {
            [
                AttestationProviderSuite(AndroidKeyProvider.self, try .androidKey()),
                AttestationProviderSuite(AppAttestProvider.self, try .appAttest()),
                AttestationProviderSuite(CustomTokenProvider.self, try .customToken()),
                AttestationProviderSuite(DebugProvider.self, .debug),
                AttestationProviderSuite(DeviceCheckProvider.self, try .deviceCheck()),
                AttestationProviderSuite(HCaptchaProvider.self, .hcaptcha),
                AttestationProviderSuite(PlayIntegrityProvider.self, try .playIntegrity()),
                AttestationProviderSuite(PrivacyPassProvider.self, try .privacyPass()),
                AttestationProviderSuite(RecaptchaEnterpriseProvider.self, try .recaptchaEnterprise()),
                AttestationProviderSuite(RecaptchaV3Provider.self, .recaptchaV3),
                AttestationProviderSuite(TurnstileProvider.self, .turnstile),
                TokenConsumerSuite(CustomBackendConsumer.self, .customBackend),
                TokenConsumerSuite(FleetEngineConsumer.self, try .fleetEngine()),
                TokenConsumerSuite(OAuthClientConsumer.self, try .oauthClient()),
                TokenConsumerSuite(PrivateTokenConsumer.self, try .privateToken()),
                PromiseSuite.memory, PromiseSuite.sqlite, PromiseSuite.webhook, PromiseSuite.keyFile,
                PromiseSuite.keyState,
            ]
        }
    }
}
#else
extension [any ConformanceSuite] {
    /// None: simulated devices and clients need the package trait `Simulator`.
    public static var standard: [any ConformanceSuite] {
        get throws { [] }
    }
}
#endif

extension [any EvidenceSimulator] {
    /// The simulated devices of the plugins that come with Assay, for `PolicyTests`.
    ///
    /// None without the package trait `Simulator`.
    ///
    /// - Throws: `CryptoError` when no keys can be made.
    public static var standard: [any EvidenceSimulator] {
        get throws { try [any ConformanceSuite].standard.compactMap { ($0 as? any SimulatingSuite)?.simulator } }
    }
}
