public import AssayCommand
public import AssayEngine

#if AndroidKey
internal import AssayAndroidKey
#endif
#if AppAttest
internal import AssayAppAttest
#endif
#if CustomBackend
internal import AssayCustomBackend
#endif
#if CustomToken
internal import AssayCustomToken
#endif
#if DebugTokens
internal import AssayDebug
#endif
#if DeviceCheck
internal import AssayDeviceCheck
#endif
#if FleetEngine
internal import AssayFleetEngine
#endif
#if HCaptcha
internal import AssayHCaptcha
#endif
#if OAuthClient
internal import AssayOAuthClient
#endif
#if PlayIntegrity
internal import AssayPlayIntegrity
#endif
#if Postgres
internal import AssayPostgres
#endif
#if PrivacyPass
internal import AssayPrivacyPass
#endif
#if PrivateToken
internal import AssayPrivateToken
#endif
#if RecaptchaEnterprise
internal import AssayRecaptchaEnterprise
#endif
#if RecaptchaV3
internal import AssayRecaptchaV3
#endif
#if Redis
internal import AssayRedis
#endif
#if SQLite
internal import AssaySQLite
#endif
#if Turnstile
internal import AssayTurnstile
#endif
#if Webhook
internal import AssayWebhook
#endif

extension [Plugin] {
    /// The providers, consumers, stores and sinks that come with Assay, each unless its package trait is off.
    public static var standard: [Plugin] {
        var plugins: [Plugin] = []
        #if AndroidKey
        plugins.append(.provider(AndroidKeyProvider.self))
        #endif
        #if AppAttest
        plugins.append(.provider(AppAttestProvider.self))
        #endif
        #if CustomToken
        plugins.append(.provider(CustomTokenProvider.self))
        #endif
        #if DebugTokens
        plugins.append(.provider(DebugProvider.self))
        #endif
        #if DeviceCheck
        plugins.append(.provider(DeviceCheckProvider.self))
        #endif
        #if HCaptcha
        plugins.append(.provider(HCaptchaProvider.self))
        #endif
        #if PlayIntegrity
        plugins.append(.provider(PlayIntegrityProvider.self))
        #endif
        #if PrivacyPass
        plugins.append(.provider(PrivacyPassProvider.self))
        #endif
        #if RecaptchaEnterprise
        plugins.append(.provider(RecaptchaEnterpriseProvider.self))
        #endif
        #if RecaptchaV3
        plugins.append(.provider(RecaptchaV3Provider.self))
        #endif
        #if Turnstile
        plugins.append(.provider(TurnstileProvider.self))
        #endif
        #if CustomBackend
        plugins.append(.consumer(CustomBackendConsumer.self))
        #endif
        #if FleetEngine
        plugins.append(.consumer(FleetEngineConsumer.self))
        #endif
        #if OAuthClient
        plugins.append(.consumer(OAuthClientConsumer.self))
        #endif
        #if PrivateToken
        plugins.append(.consumer(PrivateTokenConsumer.self))
        #endif
        #if Postgres
        plugins.append(.store(PostgresStore.self))
        #endif
        #if Redis
        plugins.append(.store(RedisStore.self))
        plugins.append(.store(RedisTLSStore.self))
        #endif
        #if SQLite
        plugins.append(.store(SQLiteStore.self))
        #endif
        #if Webhook
        plugins.append(.sink(WebhookSink.self))
        #endif
        return plugins
    }
}

extension [PluginCommand] {
    /// The subcommands that come with these plugins: `verify android-key`, `verify app-attest`, `debug-token`, `token`, `demo`,
    /// `fake-apple` and `load`.
    ///
    /// Without the package trait `Simulator`, the last three only say that they were left out, and `token` simulates no
    /// device. The first three go with the traits of their plugins.
    public static var standard: [PluginCommand] {
        var commands: [PluginCommand] = []
        #if AndroidKey
        #if AppAttest
        commands.append(.verification(VerifyAndroidKeyCommand.self))
        #else
        commands.append(.verification(VerifyAndroidKeyCommand.self, reasons: SampleReasons.all))
        #endif
        #endif
        #if AppAttest
        commands.append(
            .verification(VerifyAppAttestCommand.self, reasons: SampleReasons.all, explaining: .appAttest))
        #endif
        #if DebugTokens
        commands.append(.command(DebugTokenCommand.self))
        #endif
        commands.append(.command(TokenCommand.self))
        commands.append(.command(DemoCommand.self, invitation: DemoCommand.invitation))
        commands.append(.command(FakeAppleCommand.self))
        commands.append(.command(LoadCommand.self))
        return commands
    }
}
