internal import AssayAppAttest
public import AssayCommand
internal import AssayCustomBackend
internal import AssayCustomToken
internal import AssayDebug
internal import AssayDeviceCheck
public import AssayEngine
internal import AssayFleetEngine
internal import AssayOAuthClient
internal import AssaySQLite
internal import AssayWebhook

extension [Plugin] {
    /// The providers, consumers, stores and sinks that come with Assay.
    public static var standard: [Plugin] {
        [
            .provider(AppAttestProvider.self),
            .provider(CustomTokenProvider.self),
            .provider(DebugProvider.self),
            .provider(DeviceCheckProvider.self),
            .consumer(CustomBackendConsumer.self),
            .consumer(FleetEngineConsumer.self),
            .consumer(OAuthClientConsumer.self),
            .store(SQLiteStore.self),
            .sink(WebhookSink.self),
        ]
    }
}

extension [PluginCommand] {
    /// The subcommands that come with these plugins: `verify app-attest`, `debug-token`, `demo` and `fake-apple`.
    ///
    /// Without the package trait `Simulator`, the last two only say that they were left out.
    public static var standard: [PluginCommand] {
        [
            .verification(VerifyAppAttestCommand.self, reasons: SampleReasons.all), .command(DebugTokenCommand.self),
            .command(DemoCommand.self, invitation: DemoCommand.invitation), .command(FakeAppleCommand.self),
        ]
    }
}
