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
        let table: KeyTable
        let entityTag: String?
        /// By uptime, as all times here: the time of day may be set while keys are kept.
        let isFreshUntil: Duration
        let isUsableUntil: Duration

        func has(_ keyID: String?) -> Bool { keyID.map { table.has($0) } ?? true }
    }

    private let endpoint: KeySetEndpoint
    private let clock: HostClock
    private let logger: Logger
    private let meter: Meter
    private var copy: Copy?
    /// What was skipped in the document that was fetched last; it is logged when it changes.
    private var skipped: [JWKSet.Skipped] = []
    private var lastTry: Duration?
    /// Why the last fetch brought no copy; nil when it did.
    private var failure: String?
    private var fetching: Task<Void, Never>?
    /// Keys that the server did not have, and when it was asked.
    ///
    /// One comes in with each fetch, so they are few.
    private var missed: [ExactText: Duration] = [:]

    init(url: EndpointURL, _ http: any OutboundHTTP, _ host: PluginHost) {
        endpoint = KeySetEndpoint(url: url, http: http)
        clock = host.clock
        logger = host.logger
        meter = host.meter.unscoped
    }

    /// The keys; if they are old or lack a certain key, newer ones are fetched first.
    ///
    /// - Throws: ``KeysUnavailable`` when there are none, or when they are too old.
    func table(including keyID: String?) async throws(KeysUnavailable) -> KeyTable {
        await fetchToWaitFor(keyID)?.value
        let now = clock.uptime
        guard let copy, now < copy.isUsableUntil else {
            let words = failure ?? "they were not fetched yet"
            throw KeysUnavailable("the keys at \(endpoint.url) are unavailable: \(words)")
        }
        return copy.table
    }

    /// Returns when no fetch is under way.
    func settle() async {
        await fetching?.value
    }

    /// The fetch that the caller must wait for; nil when a copy will do.
    ///
    /// A refresh may begin in the background.
    private func fetchToWaitFor(_ keyID: String?) -> Task<Void, Never>? {
        let now = clock.uptime
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
    private func isDue(_ now: Duration) -> Bool {
        lastTry.map { now >= $0 + KeySetEndpoint.retryInterval } ?? true
    }

    private func wasMissed(_ keyID: String?, _ now: Duration) -> Bool {
        guard let keyID, copy != nil, let time = missed[ExactText(keyID)] else { return false }
        return now < time + KeySetEndpoint.missInterval
    }

    private func begin(_ keyID: String?, _ now: Duration) -> Task<Void, Never> {
        lastTry = now
        let task = Task { await fetch(keyID, now) }
        fetching = task
        return task
    }

    private func fetch(_ wanted: String?, _ now: Duration) async {
        let old = copy
        let answer = await endpoint.fetch(unless: old?.entityTag)
        fetching = nil
        switch answer {
        case .keys(let set, let tag, let freshness):
            keep(KeyTable(set.keys), tag, until: now + freshness)
            if !set.skipped.isEmpty {
                meter.add(Double(set.skipped.count), to: IssuerKeys.skipped)
            }
            if set.skipped != skipped { set.logSkipped(of: "\(endpoint.url)", to: logger) }
            skipped = set.skipped
        case .unchanged(let freshness):
            if let old { keep(old.table, old.entityTag, until: now + freshness) }
        case .failed(let words, _):
            failure = words
            logger.warning(
                "an issuer's keys cannot be fetched", metadata: ["url": "\(endpoint.url)", "error": "\(words)"])
            return
        }
        failure = nil
        missed = missed.filter { now < $0.value + KeySetEndpoint.missInterval }
        if let wanted, copy?.has(wanted) == false, wanted.utf8.count <= 256 { missed[ExactText(wanted)] = now }
    }

    private func keep(_ table: KeyTable, _ entityTag: String?, until end: Duration) {
        copy = Copy(
            table: table, entityTag: entityTag, isFreshUntil: end, isUsableUntil: end + KeySetEndpoint.staleness)
    }
}
