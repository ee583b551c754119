public import AssayCore
public import AssayEngine
public import AssayKit
public import Logging
internal import Synchronization

/// The keys of a service, from the opening of their place to its end.
///
/// A program opens them with `Registry.openKeys(_:host:)`, runs ``run(for:every:clock:logger:)`` next to its services if
/// it serves, and calls ``close()`` at its end.
public final class OpenKeys: Sendable {
    /// The keys for an engine.
    public let store: KeyStore
    /// The place as the operator named it.
    public let name: String
    private let vault: (any KeyVaultPlugin)?
    private let failure = Mutex<String?>(nil)
    /// How far the knowledge of the keys had aged at the last look.
    private let stage = Mutex(KeyFreshness.Stage.present)
    private let isClosed = Mutex(false)

    init(_ store: KeyStore, name: String, _ vault: (any KeyVaultPlugin)? = nil) {
        self.store = store
        self.name = name
        self.vault = vault
    }

    /// Whether they are in a vault, which other servers may share, and not in a folder.
    public var isInVault: Bool { vault != nil }

    /// Takes up what other servers change in a vault, until the task is cancelled; returns at once for a folder.
    ///
    /// While the vault cannot be read, the keys that are known stay in force, and sign for some time; see ``readiness`` and
    /// ``KeyStore/signingLimit``.
    public func run(
        for engine: Engine, every interval: Duration = .seconds(5), clock: HostClock = .system, logger: Logger
    ) async {
        guard vault != nil else { return }
        while (try? await clock.sleep(for: interval)) != nil { await follow(for: engine, logger: logger) }
    }

    /// Asks the vault once, and loads what it has.
    func follow(for engine: Engine, logger: Logger) async {
        do {
            _ = try await store.refresh()
            // Keys that the policies need may have to be made, which waits for the vault.
            if !engine.confirmKeys() { _ = try await OwnThread.run { try engine.reloadKeys() } }
            report(nil, logger)
        } catch {
            report(SafeText.of("\(error)"), logger)
        }
        let freshness = engine.keyFreshness
        let hasAged = stage.withLock { stage in
            defer { stage = freshness.stage }
            return freshness.stage.rawValue > stage.rawValue
        }
        if hasAged, let caution = freshness.caution { logger.error("\(caution)") }
    }

    private func report(_ problem: String?, _ logger: Logger) {
        let previous = failure.withLock { failure in
            defer { failure = problem }
            return failure
        }
        switch (previous, problem) {
        case (nil, let problem?):
            logger.error(
                "the key vault cannot be followed: the present keys stay in force", metadata: ["error": "\(problem)"])
        case (_?, nil): logger.notice("the key vault is followed again")
        default: break
        }
    }

    /// Degraded while a vault cannot be read, or has keys that cannot be used.
    public var readiness: Readiness {
        failure.withLock { $0 }.map { .degraded("the key vault cannot be followed: \($0)") } ?? .ready
    }

    /// Why the keys are not reliable now; nil when they are, and for a folder.
    public var blockingReason: String? { vault?.blockingReason }

    /// Closes a vault, once: a second call does nothing.
    ///
    /// It waits up to half a minute for operations in progress.
    public func close() async {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        guard isFirst, let vault else { return }
        _ = await waiting(atMost: VaultedKeys.timeLimit, clock: .system) { await vault.close() }
    }
}

extension Registry {
    /// Opens the place of keys with a name: the path of a folder, or `SCHEME:LOCATION` of a registered key vault.
    ///
    /// A path that looks like the name of a vault is written as `file:PATH`, or with `./` before it.
    ///
    /// A vault that needs the state store (``keysUseState(_:)``) finds it in the host.
    ///
    /// - Throws: `KeyError` when there is no such vault, or when it cannot be read.
    public func openKeys(_ name: String, host: StorageHost) async throws(KeyError) -> OpenKeys {
        guard let (scheme, location) = Self.parts(name), Self.isScheme(scheme) else {
            guard !name.isEmpty else { throw KeyError("the folder of the keys has no name") }
            return OpenKeys(.directory(name), name: name)
        }
        if scheme.isExactly(FileKeyVault.descriptor.scheme) {
            guard !location.isEmpty else { throw KeyError("\(name): expected the path of a folder") }
            return OpenKeys(.directory(location), name: location)
        }
        if let reason = unavailable(.vault, scheme) {
            throw KeyError("the key vault '\(scheme)' is unavailable: \(reason)")
        }
        guard let plugin = knownVaults.chosen(by: scheme) else {
            let known = knownVaults.values.map(\.descriptor).sorted { $0.scheme.precedesExactly($1.scheme) }
                .map(\.usage).joined(separator: ", ")
            throw KeyError("unknown key vault '\(scheme)'; the vaults are \(known), and a path is a folder")
        }
        var own = host
        own.meter = host.meter.scoped(to: plugin.descriptor.scheme)
        let vault: any KeyVaultPlugin
        do throws(KeyVaultError) {
            vault = try await plugin.open(location, own)
        } catch {
            throw KeyError("the key vault '\(scheme)': \(SafeText.of(error.message))")
        }
        do throws(KeyError) {
            return OpenKeys(
                try await .vault(vault, name: "the key vault \(scheme)", clock: host.clock), name: name, vault)
        } catch {
            await vault.close()
            throw error
        }
    }

    /// Whether the place of keys with a name is a vault that needs the state store of the service (``StateKeyVault``).
    public func keysUseState(_ name: String) -> Bool {
        guard let (scheme, _) = Self.parts(name), Self.isScheme(scheme) else { return false }
        return knownVaults.chosen(by: scheme)?.usesState ?? false
    }

    /// The registered vaults, and those that need no registration.
    private var knownVaults: [ExactText: VaultPlugin] {
        let own = [VaultPlugin(FileKeyVault.self), VaultPlugin(StateKeyVault.self)]
        return vaults.merging(own.map { (ExactText($0.descriptor.scheme), $0) }) { registered, _ in registered }
    }

    /// Whether a text before a colon is the scheme of a vault, and no part of a path.
    private static func isScheme(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { $0.isASCIILowercase || $0.isASCIIDigit || $0 == UInt8(ascii: "_") }
    }
}
