internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import Logging

/// The keys of a JWKS document, of which one copy is kept.
///
/// A copy is fresh for as long as the server says (`Cache-Control: max-age`), from 5 minutes to 24 hours; if it cannot
/// be fetched again, it stays in use for a day after that. A token with an unknown key causes an early fetch.
///
/// Any client can send tokens with unknown keys. So the server is asked at most every 30 seconds; a missing key is not
/// asked for again for a minute; and a fetch does not belong to the callers that wait for it, so that it continues when
/// a client leaves. A token whose key is in a fresh copy never waits, nor does one whose key is in an old copy after
/// the server has failed.
actor PublishedKeys {
    private struct Copy {
        let keys: [JWK]
        let entityTag: String?
        let isFreshUntil: Instant
        let isUsableUntil: Instant

        func has(_ keyID: String?) -> Bool {
            guard let keyID else { return true }
            return keys.contains { $0.keyID.map { $0.isExactly(keyID) } ?? false }
        }
    }

    private let endpoint: KeySetEndpoint
    private let host: PluginHost
    private var copy: Copy?
    /// What was skipped in the document that was fetched last; it is logged when it changes.
    private var skipped: [JWKSet.Skipped] = []
    private var lastTry: Instant?
    /// Why the last fetch brought no copy; nil when it did.
    private var failure: String?
    private var fetching: Task<Void, Never>?
    /// Keys that the server did not have, and when it was asked.
    ///
    /// One comes in with each fetch, so they are few.
    private var missed: [ExactText: Instant] = [:]

    init(url: EndpointURL, host: PluginHost) {
        endpoint = KeySetEndpoint(url: url, http: host.http)
        self.host = host
    }

    /// The keys; if they are old or lack a certain key, newer ones are fetched first.
    ///
    /// - Throws: ``KeysUnavailable`` when there are none, or when they are too old.
    func keys(including keyID: String?) async throws(KeysUnavailable) -> [JWK] {
        await fetchToWaitFor(keyID)?.value
        let now = host.clock.now
        guard let copy, now < copy.isUsableUntil else {
            let words = failure ?? "they were not fetched yet"
            throw KeysUnavailable("the keys at \(endpoint.url) are unavailable: \(words)")
        }
        return copy.keys
    }

    /// Returns when no fetch is under way.
    func settle() async {
        await fetching?.value
    }

    /// The fetch that the caller must wait for; nil when a copy will do.
    ///
    /// A refresh may begin in the background.
    private func fetchToWaitFor(_ keyID: String?) -> Task<Void, Never>? {
        let now = host.clock.now
        if let copy, now < copy.isUsableUntil, copy.has(keyID) {
            if now < copy.isFreshUntil { return nil }
            let fetch = fetching ?? (isDue(now) ? begin(keyID, now) : nil)
            // A server that is down or slow does not delay what an old copy can decide.
            return failure.isNil ? fetch : nil
        }
        if let fetching { return fetching }
        guard isDue(now), !wasMissed(keyID, now) else { return nil }
        return begin(keyID, now)
    }

    /// Whether the server may be asked.
    ///
    /// A clock that was set back does not silence the question.
    private func isDue(_ now: Instant) -> Bool {
        guard let lastTry else { return true }
        return now >= lastTry + KeySetEndpoint.retryInterval || now < lastTry
    }

    private func wasMissed(_ keyID: String?, _ now: Instant) -> Bool {
        guard let keyID, copy != nil, let time = missed[ExactText(keyID)] else { return false }
        return now < time + KeySetEndpoint.missInterval && now >= time
    }

    private func begin(_ keyID: String?, _ now: Instant) -> Task<Void, Never> {
        lastTry = now
        let task = Task { await fetch(keyID, now) }
        fetching = task
        return task
    }

    private func fetch(_ wanted: String?, _ now: Instant) async {
        let old = copy
        let answer = await endpoint.fetch(unless: old?.entityTag)
        fetching = nil
        switch answer {
        case .keys(let set, let tag, let freshness):
            keep(set.keys, tag, until: now + freshness)
            if !set.skipped.isEmpty {
                host.meter.unscoped.add(Double(set.skipped.count), to: IssuerKeys.skipped)
            }
            if set.skipped != skipped { set.logSkipped(of: "\(endpoint.url)", to: host.logger) }
            skipped = set.skipped
        case .unchanged(let freshness):
            if let old { keep(old.keys, old.entityTag, until: now + freshness) }
        case .failed(let words, _):
            failure = words
            host.logger.warning(
                "an issuer's keys cannot be fetched", metadata: ["url": "\(endpoint.url)", "error": "\(words)"])
            return
        }
        failure = nil
        missed = missed.filter { now < $0.value + KeySetEndpoint.missInterval && now >= $0.value }
        if let wanted, copy?.has(wanted) == false, wanted.utf8.count <= 256 { missed[ExactText(wanted)] = now }
    }

    private func keep(_ keys: [JWK], _ entityTag: String?, until end: Instant) {
        copy = Copy(
            keys: keys, entityTag: entityTag, isFreshUntil: end, isUsableUntil: end + KeySetEndpoint.staleness)
    }
}
