public import AssayCore
internal import AssayCrypto
internal import AssayEngine
public import AssayKit
public import AssayPolicy
public import Logging
internal import Synchronization

/// Policies that come as a signed bundle (``PolicyBundle``) from a URL, which nobody need trust.
///
/// Call ``poll()`` once, then make the engine in ``start(_:)``, and run a ``PolicyBundlePolling`` and a ``Reloader``:
///
///     let source = try PolicyBundleSource(options, http: client, logger: logger)
///     await source.poll()
///     let (engine, policies) = try source.start { try Engine(registry: registry, policies: $0, keys: keys, host: host) }
///     let reloader = Reloader([.policies(in: source, for: engine, present: policies)], logger: logger)
///     let polling = PolicyBundlePolling(source, reloader: reloader)
///
/// `client` must take responses as large as a bundle, with some bytes for the framing of HTTP. Those of `HTTPClientService()` are
/// 4 MiB at most: for larger bundles make it with `HTTPClientOptions(responseBytes: PolicyBundle.byteLimit + (1 << 20))`.
///
/// A bundle takes effect only if a trusted key signed it, and if its version is not older than that of any bundle that was
/// in force on this machine; where none was, it must not be out of date. The last one in force is kept in a folder, and is
/// used while the URL cannot be reached.
public final class PolicyBundleSource: PolicySource {
    private struct State {
        /// What the URL gave last, good or not; nil until it gave something.
        var downloaded: [UInt8]?
        /// The validator of `downloaded`.
        var etag: String?
        /// What was kept by an earlier process, until something in force was downloaded.
        var kept: [UInt8]?
        /// The greatest version that was in force.
        var newest: KeptBundle.Newest?
        /// What the last read gave.
        var read: (bundle: PolicyBundle, bytes: [UInt8])?
        var present: PolicyBundle?
        /// Why the last download failed.
        var failure: String?
        /// Why the bundle in force is not kept.
        var notKept: String?
        /// How many downloads began, and which of them counted last.
        var polls = (begun: 0, counted: 0)
    }

    /// How far the clocks of a signer and a server may differ.
    private static let clockTolerance = Duration.seconds(86_400)

    /// What it was made with.
    public let options: PolicyBundleOptions
    private let http: any OutboundHTTP
    private let clock: HostClock
    private let logger: Logger
    private let folder: KeptBundle
    private let state: Mutex<State>

    /// Reads what was kept; nothing is downloaded yet.
    ///
    /// - Parameter http: must take responses of `PolicyBundle.byteLimit` bytes and their framing; a client that takes less
    ///   refuses larger bundles.
    /// - Throws: when a key file cannot be read, or when it cannot be known which version was in force.
    public init(
        _ options: PolicyBundleOptions, http: any OutboundHTTP, clock: HostClock = .system, logger: Logger
    ) throws {
        self.options = options
        self.http = http
        self.clock = clock
        self.logger = logger
        folder = KeptBundle(folder: options.folder)
        var state = State()
        let keys = try Self.keys(options.keyFiles)
        state.newest = try folder.newest()
        do {
            state.kept = try folder.bytes()
            if let kept = state.kept {
                let bundle = try PolicyBundle.open(kept, trusting: keys)
                if bundle.version > state.newest?.version ?? 0 { state.newest = KeptBundle.Newest(bundle) }
            }
        } catch {
            state.kept = nil
            logger.warning(
                "the kept policy bundle cannot be used", metadata: ["file": "\(folder.path)", "error": "\(error)"])
        }
        self.state = Mutex(state)
    }

    /// The state of the key files: when they change, the bundle is verified again.
    public var fingerprint: FileFingerprint { FileFingerprint(of: options.keyFiles) }

    /// The bundle in force; nil before there is one.
    public var present: PolicyBundle? { state.withLock { $0.present } }

    /// Whether the kept bundle is in force although something else was downloaded.
    var isPending: Bool { state.withLock { $0.downloaded != nil && $0.kept != nil } }

    /// Reads what was downloaded last, or what was kept where nothing was downloaded.
    public func read() -> PolicySet {
        let (downloaded, kept) = state.withLock { ($0.downloaded, $0.kept) }
        if let downloaded { return read(downloaded, options.label) }
        if let kept { return read(kept, folder.path) }
        let failure = state.withLock { $0.failure } ?? "it was not downloaded yet"
        return .unreadable(options.shownURL, "no policies: \(failure); and no bundle is kept in \(options.folder)")
    }

    /// Keeps the bundle that was read last.
    public func didTakeEffect() {
        let news = state.withLock { state -> (bundle: PolicyBundle, bytes: [UInt8])? in
            guard let (bundle, bytes) = state.read else { return nil }
            if bytes == state.downloaded { state.kept = nil }
            defer { (state.present, state.newest) = (bundle, KeptBundle.Newest(bundle)) }
            return state.present?.version == bundle.version && state.notKept.isNil ? nil : (bundle, bytes)
        }
        guard let (bundle, bytes) = news else { return }
        do {
            try folder.keep(bytes, of: bundle)
            state.withLock { $0.notKept = nil }
        } catch {
            state.withLock { $0.notKept = "\(error)" }
            logger.error("the policy bundle in force cannot be kept", metadata: ["error": "\(error)"])
        }
        logger.notice(
            "a policy bundle is in force",
            metadata: ["version": "\(bundle.version)", "signed": "\(bundle.issued)", "files": "\(bundle.files.count)"])
    }

    /// Makes what serves with what was downloaded, or else, with a line in the log, with what was kept.
    ///
    /// - Throws: what `make` throws: of what was downloaded, where something was.
    public func start<Value>(_ make: (PolicySet) throws -> Value) throws -> (value: Value, policies: PolicySet) {
        let kept = state.withLock { $0.downloaded == nil ? nil : $0.kept }
        do {
            let policies = read()
            let value = try make(policies)
            if state.withLock({ $0.downloaded == nil }) { logKept(because: "the URL cannot be reached") }
            didTakeEffect()
            return (value, policies)
        } catch {
            guard let kept else { throw error }
            let policies = read(kept, folder.path)
            guard policies.problems == nil, let value = try? make(policies) else { throw error }
            logKept(because: "what the URL gives is refused")
            didTakeEffect()
            return (value, policies)
        }
    }

    private func logKept(because reason: String) {
        logger.warning(
            "the policies of the kept bundle are used: \(reason)",
            metadata: ["url": "\(options.shownURL)", "kept": "\(folder.path)"])
    }

    private func read(_ bytes: [UInt8], _ label: String) -> PolicySet {
        let newest = state.withLock { state in
            state.read = nil
            return state.newest
        }
        do {
            let bundle = try PolicyBundle.open(bytes, trusting: try Self.keys(options.keyFiles))
            if let problem = newest?.problem(with: bundle) { return .unreadable(label, problem) }
            guard bundle.issued <= clock.now + Self.clockTolerance else {
                return .unreadable(
                    label,
                    "it was signed at \(bundle.issued), which is in the future: correct the clock of this machine, or that "
                        + "of the machine that signs, and sign it again")
            }
            // One that was in force stays in force after its end.
            if newest.map({ $0.version < bundle.version }) ?? true, let expires = bundle.expires, expires <= clock.now {
                return .unreadable(
                    label, "it is out of date since \(expires), and was never in force here: sign the policies again")
            }
            state.withLock { $0.read = (bundle, bytes) }
            return bundle.policies(in: label)
        } catch {
            return .unreadable(label, "\(error)")
        }
    }

    private static func keys(_ files: [String]) throws(SecretError) -> [PublicKey] {
        var keys: [PublicKey] = []
        for file in files {
            let text = try SecretFile.read(file, limit: 16_384, isSecret: false)
            do throws(CryptoError) {
                keys.append(try PublicKey(pem: text))
            } catch {
                throw SecretError("\(file) is not a public key in PEM: \(error.message)")
            }
        }
        return keys
    }
}

extension PolicyBundleSource {
    /// Asks the URL for the bundle, once; nothing takes effect by it.
    ///
    /// The first of several failures of one kind is logged.
    ///
    /// - Returns: whether it has another content than before. Then have the policies reloaded.
    @discardableResult public func poll() async -> Bool {
        let (number, etag) = state.withLock { state in
            state.polls.begun += 1
            return (state.polls.begun, state.etag)
        }
        let result = await BundleDownload.get(options, etag: etag, through: http)
        guard let result else { return false }
        let (before, isNew) = state.withLock { state -> (String?, Bool) in
            // Another one began later and has ended.
            guard number > state.polls.counted else { return (state.failure, false) }
            state.polls.counted = number
            defer { state.failure = result.failure }
            guard case .bundle(let bytes, let etag) = result else { return (state.failure, false) }
            defer { state.downloaded = bytes }
            state.etag = etag
            return (state.failure, bytes != state.downloaded)
        }
        keepAgain()
        if let failure = result.failure, !before.isExactly(failure) {
            logger.warning(
                "the policy bundle cannot be downloaded",
                metadata: ["url": "\(options.shownURL)", "error": "\(failure)"])
        } else if result.failure.isNil, !before.isNil {
            logger.notice("the policy bundle can be downloaded again", metadata: ["url": "\(options.shownURL)"])
        }
        return isNew
    }

    /// Keeps the bundle in force where that failed, or where what was kept is gone.
    private func keepAgain() {
        let kept = state.withLock { state -> (bundle: PolicyBundle, bytes: [UInt8])? in
            guard let (bundle, bytes) = state.read, bundle.version == state.present?.version else { return nil }
            return (bundle, bytes)
        }
        guard let (bundle, bytes) = kept else { return }
        let isThere = (try? folder.newest())?.map { $0.version >= bundle.version } ?? false
        guard !isThere || !state.withLock({ $0.notKept.isNil }) else { return }
        do {
            try folder.keep(bytes, of: bundle)
            let wasMissing = state.withLock { state in
                defer { state.notKept = nil }
                return state.notKept.isNil
            }
            if wasMissing {
                logger.warning(
                    "the kept policy bundle was gone, and is kept again", metadata: ["file": "\(folder.path)"])
            } else {
                logger.notice("the policy bundle in force is kept again", metadata: ["file": "\(folder.path)"])
            }
        } catch {
            state.withLock { $0.notKept = "\(error)" }
        }
    }

    /// Whether the last download succeeded.
    public var isReachable: Bool { state.withLock { $0.failure.isNil } }

    /// Degraded while the bundle cannot be downloaded or kept, or is out of date; it never makes the service not ready.
    ///
    /// What is wrong with a bundle that was downloaded is in the readiness of the ``Reloader``.
    public var readiness: Readiness {
        let (failure, notKept, present) = state.withLock { ($0.failure, $0.notKept, $0.present) }
        var reasons: [String] = []
        if let failure { reasons.append("cannot be downloaded: \(failure)") }
        if let notKept { reasons.append("cannot be kept for the next start: \(notKept)") }
        if let expires = present?.expires, expires <= clock.now {
            reasons.append("is out of date since \(expires): sign the policies again")
        }
        guard !reasons.isEmpty else { return .ready }
        let stays = present.map { "; version \($0.version) of \($0.issued) stays in force" } ?? ""
        return .degraded("policy bundle: \(reasons.joined(separator: "; "))\(stays)")
    }
}
