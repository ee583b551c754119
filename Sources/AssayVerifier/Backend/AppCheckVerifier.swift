public import AssayCore
internal import AssayCrypto
public import Logging
internal import Synchronization

/// Verifies App Check tokens in a backend, with the keys that their issuer publishes.
///
///     let verifier = AppCheckVerifier(
///         keySet: EndpointURL("https://assay.example.com/v1/jwks")!,
///         requirements: TokenRequirements(issuer: …, audience: "projects/1234567890"),
///         http: client, logger: logger)
///     async let refreshing: Void = verifier.keepKeysFresh()
///     switch try await verifier.verify(request.headers["X-Firebase-AppCheck"]) { … }
///
/// One copy of the key set is kept, for as long as the server says (`Cache-Control: max-age`), from 5 minutes to 24
/// hours. ``keepKeysFresh()`` fetches it again before that, in the background. If that fails, the copy stays in use for
/// one more day. A token with an unknown key causes a fetch at once, at most one every 30 seconds.
public final class AppCheckVerifier: Sendable {
    /// The keys at hand, and what was verified with them.
    private struct Copy: Sendable {
        let verifier: TokenVerifier
        let cache: VerifiedTokenCache
        let keys: JWKSet
        let entityTag: String?
        let fetched: Instant
        let isFreshUntil: Instant
        let isUsableUntil: Instant

        func isUsable(at now: Instant) -> Bool { now < isUsableUntil }
    }

    private struct State {
        var copy: Copy?
        var lastTry: Instant?
        var lastFailure = "they were not fetched yet"
        var isFetching = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// A token of this service has less than a thousand bytes.
    private static let longest = 16_384

    private let endpoint: KeySetEndpoint
    private let requirements: TokenRequirements
    private let cacheLimit: Int
    private let clock: HostClock
    private let logger: Logger
    private let state = Mutex(State())

    /// Makes a verifier; the keys are fetched for the first token.
    ///
    /// - `keySet`: where the issuer publishes its keys.
    /// - `requirements`: the requirements on tokens.
    /// - `cacheLimit`: how many verified tokens are remembered, so that their signatures are not verified again; each
    ///   costs about half a kilobyte. None by default. A remembered token is judged by the time whenever it is shown,
    ///   and forgotten with the key that it was verified with.
    /// - `http`: fetches the keys: an `HTTPClientService` of the module `AssayHTTPClient`, or your own.
    public init(
        keySet: EndpointURL, requirements: TokenRequirements, cacheLimit: Int = 0, http: any OutboundHTTP,
        clock: HostClock = .system, logger: Logger
    ) {
        endpoint = KeySetEndpoint(url: keySet, http: http)
        self.requirements = requirements
        self.cacheLimit = min(max(cacheLimit, 0), 1 << 20)
        self.clock = clock
        self.logger = logger
    }

    /// Verifies a token.
    ///
    /// - Parameter token: the value of the header `X-Firebase-AppCheck`; nil or empty when it is missing.
    /// - Throws: `KeysUnavailable` when there are no keys to verify it with; no decision is possible, and the request
    ///   must not be allowed.
    public func verify(_ token: String?) async throws(KeysUnavailable) -> TokenVerifier.Outcome {
        guard let token, !token.isEmpty else { return .refused(TokenReasons.missing) }
        // Neither of them justifies a fetch of keys.
        guard !token.isExactly(TokenVerifier.placeholder) else { return .refused(TokenReasons.placeholder) }
        guard token.utf8.count <= Self.longest else { return .refused(TokenReasons.malformed) }
        let now = clock.now
        let known = state.withLock { $0.copy }
        if let known, now < known.isFreshUntil || !isDue(now), known.isUsable(at: now) {
            let outcome = judge(token, known, now)
            guard outcome == .refused(TokenReasons.keyUnknown), isDue(now) || isFetching || isRenewed(known) else {
                return outcome
            }
        }
        await fetch()
        guard let copy = state.withLock({ $0.copy }), copy.isUsable(at: clock.now) else {
            let failure = state.withLock { $0.lastFailure }
            throw KeysUnavailable("the keys at \(endpoint.url) are unavailable: \(failure)")
        }
        return judge(token, copy, clock.now)
    }

    /// Fetches the keys again whenever four fifths of their time have passed, until the task is cancelled; after a
    /// failure, every 30 seconds.
    public func keepKeysFresh() async {
        while !Task.isCancelled {
            let now = clock.now
            let due = state.withLock { state -> Instant in
                let retry = state.lastTry.map { $0 + KeySetEndpoint.retryInterval } ?? now
                guard let copy = state.copy else { return retry }
                return max(copy.fetched + (copy.isFreshUntil - copy.fetched) * 4 / 5, retry)
            }
            guard due <= now else {
                guard (try? await clock.sleep(for: due - now)) != nil else { return }
                continue
            }
            await fetch()
        }
    }

    // MARK: - Tokens

    private func judge(_ token: String, _ copy: Copy, _ now: Instant) -> TokenVerifier.Outcome {
        guard cacheLimit > 0 else { return judge(copy.verifier, token, now) }
        let digest = TokenDigest(of: token)
        if let known = copy.cache.token(digest) {
            guard let reason = requirements.refusal(of: known, at: now) else { return .verified(known) }
            copy.cache.remove(digest)
            return .refused(reason)
        }
        let outcome = judge(copy.verifier, token, now)
        if case .verified(let verified) = outcome { copy.cache.insert(verified, digest) }
        return outcome
    }

    private func judge(_ verifier: TokenVerifier, _ token: String, _ now: Instant) -> TokenVerifier.Outcome {
        let outcome = verifier.verify(token, requirements.expectation, now: now)
        guard case .verified(let verified) = outcome else { return outcome }
        let reason = requirements.refusal(of: verified) ?? requirements.refusal(of: verified, at: now)
        return reason.map { .refused($0) } ?? outcome
    }

    // MARK: - Keys

    /// Whether the server may be asked again.
    ///
    /// A clock that was set back does not silence the question.
    private func isDue(_ now: Instant) -> Bool {
        state.withLock { state in
            guard !state.isFetching, let last = state.lastTry else { return !state.isFetching }
            return now >= last + KeySetEndpoint.retryInterval || now < last
        }
    }

    private var isFetching: Bool { state.withLock { $0.isFetching } }

    /// Whether another caller has fetched the keys since a copy was read: the new copy may have a missing key.
    private func isRenewed(_ known: Copy) -> Bool {
        state.withLock { $0.copy.map { $0.fetched != known.fetched } ?? false }
    }

    /// Fetches the keys, unless another caller does already, which is waited for, or did so just now.
    private func fetch() async {
        let now = clock.now
        guard isDue(now) else { return await waitForOthers() }
        let old = state.withLock { state -> Copy?? in
            guard !state.isFetching else { return nil }
            state.isFetching = true
            state.lastTry = now
            return state.copy
        }
        guard let old else { return await waitForOthers() }
        // A running fetch continues when its caller is cancelled: otherwise clients that connect and leave could cause
        // endless requests to the server.
        let answer = await Task { await endpoint.fetch(unless: old?.entityTag) }.value
        let waiting = state.withLock { state in
            switch answer {
            case .keys(let keys, let tag, let freshness):
                state.copy = copy(keys, tag, old, now, freshness)
            case .unchanged(let freshness):
                if let old { state.copy = copy(old.keys, old.entityTag, old, now, freshness) }
            case .failed(let failure, let wasCancelled):
                state.lastFailure = failure
                // A cancelled call says nothing about the server: the next one may try at once.
                if wasCancelled { state.lastTry = nil }
            }
            state.isFetching = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
        if case .keys(let keys, _, _) = answer, keys.skipped != old?.keys.skipped ?? [] {
            keys.logSkipped(of: "\(endpoint.url)", to: logger)
        }
        if case .failed(let failure, _) = answer {
            logger.warning(
                "the keys of App Check tokens cannot be fetched",
                metadata: ["url": "\(endpoint.url)", "error": "\(failure)"])
        }
    }

    private func waitForOthers() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                guard state.isFetching else { return true }
                state.waiting.append(continuation)
                return false
            }
            if isDone { continuation.resume() }
        }
    }

    private func copy(
        _ keys: JWKSet, _ tag: String?, _ old: Copy?, _ now: Instant, _ freshness: Duration
    ) -> Copy {
        let end = now + freshness
        // A removed key may have been revoked: its tokens are no longer accepted.
        let keeps = old.map { old in old.keys.keys.allSatisfy(keys.keys.contains) } ?? false
        return Copy(
            verifier: TokenVerifier(keys: keys),
            cache: keeps ? old?.cache ?? VerifiedTokenCache(limit: cacheLimit) : VerifiedTokenCache(limit: cacheLimit),
            keys: keys, entityTag: tag, fetched: now, isFreshUntil: end,
            isUsableUntil: end + KeySetEndpoint.staleness)
    }
}
