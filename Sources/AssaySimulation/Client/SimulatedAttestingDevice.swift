public import AssayClient
public import AssayCore
internal import Synchronization

/// A simulated device for the provider `AppAttestProvider`: for tests, and where there is no `DCAppAttestService`.
///
///     let device = try SimulatedAttestingDevice(
///         authority: SimulatedAuthorityFile("authority"),
///         app: SimulatedApp(appID: "ABCDE12345.com.example.app", environment: .production))
///     let provider = AppAttestProvider(device: device)
///
/// The server accepts it when its policy names the simulated authority's roots. As on Apple's systems a key is attested
/// once; a second try fails with `invalidKey`.
public final class SimulatedAttestingDevice: AttestingDevice {
    private struct State {
        var made = 0
        var attested: Set<ExactText> = []
        var failures: [DeviceError.Kind] = []
    }

    /// Whether it says that it can attest.
    public let isSupported: Bool
    private let device: SimulatedDevice
    private let app: SimulatedApp
    private let now: @Sendable () -> Instant
    private let state = Mutex(State())

    /// Makes a device on which an app runs.
    ///
    /// - Parameters:
    ///   - device: holds the keys.
    ///   - app: the app that asks.
    ///   - isSupported: false for a device without App Attest, such as a simulator of Apple's.
    ///   - now: when the authority issues certificates.
    public init(
        _ device: SimulatedDevice, app: SimulatedApp, isSupported: Bool = true,
        now: @escaping @Sendable () -> Instant = { HostClock.system.now }
    ) {
        self.device = device
        self.app = app
        self.isSupported = isSupported
        self.now = now
    }

    /// Makes a new device of the authority in a file, which the server's policy trusts.
    ///
    /// - Throws: `SecretError` when there is no such file, or others may read it.
    public convenience init(authority: SimulatedAuthorityFile, app: SimulatedApp) throws {
        try self.init(SimulatedDevice(authority: authority.authority()), app: app)
    }

    /// How many keys were made.
    public var keysMade: Int { state.withLock { $0.made } }

    /// Has the next calls that use a key fail, one for each kind.
    public func fail(_ kinds: [DeviceError.Kind]) { state.withLock { $0.failures += kinds } }

    /// Makes a key.
    public func generateKey() async throws(DeviceError) -> String {
        state.withLock { $0.made += 1 }
        return try simulated { () throws(SimulationError) in try device.generateKey() }
    }

    /// Has the simulated authority certify a key.
    public func attestKey(_ keyID: String, clientDataHash: [UInt8]) async throws(DeviceError) -> [UInt8] {
        try failIfAsked()
        guard state.withLock({ $0.attested.insert(ExactText(keyID)).inserted }) else { throw DeviceError(.invalidKey) }
        return try simulated { () throws(SimulationError) in
            try device.attestKey(keyID, clientDataHash: clientDataHash, app: app, at: now())
        }
    }

    /// Signs with a key.
    public func generateAssertion(_ keyID: String, clientDataHash: [UInt8]) async throws(DeviceError) -> [UInt8] {
        try failIfAsked()
        return try simulated { () throws(SimulationError) in
            try device.generateAssertion(keyID, clientDataHash: clientDataHash, app: app)
        }
    }

    private func failIfAsked() throws(DeviceError) {
        let kind = state.withLock { $0.failures.isEmpty ? nil : $0.failures.removeFirst() }
        if let kind { throw DeviceError(kind) }
    }

    private func simulated<Value>(_ body: () throws(SimulationError) -> Value) throws(DeviceError) -> Value {
        do { return try body() } catch { throw DeviceError(.invalidKey, cause: error) }
    }
}
