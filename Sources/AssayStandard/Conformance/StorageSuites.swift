#if Simulator
internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayServices
internal import AssaySQLite
internal import AssayTesting
internal import AssayWebhook
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PromiseSuite {
    /// The store in memory.
    static var memory: PromiseSuite {
        PromiseSuite("memory", version: AssayVersion.text, StateStoreSuite { clock in MemoryStore(clock: clock) })
    }

    /// The store in a database file, in a folder that is made for the suite.
    static var sqlite: PromiseSuite {
        let places = SuiteLocations()
        let suite = StateStoreSuite(SQLiteStore.self, appendedFiles: ["-wal"]) { try places.new() }
        return PromiseSuite("sqlite", version: SQLiteStore.descriptor.version, suite)
    }

    /// The sink that sends records to a server, with a simulated one.
    static var webhook: PromiseSuite {
        let (server, token) = (SimulatedLogServer(), "a-secret-of-the-log-server")
        let suite = DecisionSinkSuite(http: server) { host in
            server.reset()
            var host = host
            host.secrets = SecretSource { _ in Array(token.utf8) }
            return DecisionSinkSuite.Subject(
                try await WebhookSink.open("https://logs.example.com/assay#bearer=env:LOG_TOKEN", host: host),
                written: { server.written }, fails: { server.mood = $0 ? .failing(503) : .taking },
                isSlow: { server.mood = $0 ? .slow : .taking }, secrets: [token])
        }
        return PromiseSuite("webhook", version: WebhookSink.descriptor.version, suite)
    }

    /// The vault in a folder of this machine.
    static var keyFile: PromiseSuite {
        let places = SuiteLocations()
        let suite = KeyVaultSuite { host in
            let place = try places.new()
            return KeyVaultSuite.Subject(
                try await FileKeyVault.open(place, host: host),
                reopen: { try await FileKeyVault.open(place, host: host) })
        }
        return PromiseSuite("file", version: FileKeyVault.descriptor.version, suite)
    }

    /// The vault in the state store.
    static var keyState: PromiseSuite {
        let suite = KeyVaultSuite { host in
            var host = host
            host.state = MemoryStore(clock: host.clock)
            host.secrets = SecretSource { _ in Array(Base64.encode((1...32).map { UInt8($0) }).utf8) }
            let opened = host
            return KeyVaultSuite.Subject(
                try await StateKeyVault.open("env:MASTER", host: host),
                reopen: { try await StateKeyVault.open("env:MASTER", host: opened) })
        }
        return PromiseSuite("state", version: StateKeyVault.descriptor.version, suite)
    }
}

/// Paths in a folder that is removed when nobody needs it any more.
private final class SuiteLocations: Sendable {
    private let folder = FileManager.default.temporaryDirectory.appending(
        path: "assay-conformance-\(Hex.encode(Randomness.system.bytes(8)))")
    private let count = Mutex(0)

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A path at which nothing is.
    func new() throws -> String {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        count.withLock { $0 += 1 }
        return last
    }

    /// The last path that was made.
    var last: String { folder.appending(path: "\(count.withLock { $0 })").path }
}
#endif
