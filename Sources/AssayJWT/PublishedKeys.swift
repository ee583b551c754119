internal import AssayCrypto
internal import AssayKit
internal import Logging

/// The keys of a JWKS document, of which one copy is kept.
///
/// A copy is good for as long as the server says (`Cache-Control: max-age`), from 5 minutes to 24 hours; when it cannot be
/// fetched anew it stays in use for a day after that. A token with an unknown key makes it be fetched early, at most every
/// 30 seconds, whoever sends such tokens. Of callers that come at the same time, one fetches and the others wait.
actor PublishedKeys {
    private struct Copy {
        let keys: [JWK]
        let entityTag: String?
        let isFreshUntil: Instant
        let isUsableUntil: Instant
    }

    private let endpoint: KeySetEndpoint
    private let host: Host
    private var copy: Copy?
    /// What was skipped in the document that was fetched last; it is logged when it changes.
    private var skipped: [JWKSet.Skipped] = []
    private var lastTry: Instant?
    private var lastFailure = "it was not fetched yet"
    private var isFetching = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(url: EndpointURL, host: Host) {
        endpoint = KeySetEndpoint(url: url, http: host.http)
        self.host = host
    }

    /// The keys, after a look whether there are newer ones when they are old or lack a certain one.
    ///
    /// - Throws: ``KeysUnavailable`` when there are none, or only ones that are too old.
    func keys(including keyID: String?) async throws(KeysUnavailable) -> [JWK] {
        while needsFetch(keyID) {
            if isFetching {
                await withCheckedContinuation { waiting.append($0) }
            } else {
                await fetch()
            }
        }
        let now = host.clock.now
        guard let copy, now < copy.isUsableUntil else {
            throw KeysUnavailable("the keys at \(endpoint.url) cannot be had: \(lastFailure)")
        }
        return copy.keys
    }

    private func needsFetch(_ keyID: String?) -> Bool {
        let now = host.clock.now
        if let copy, now < copy.isFreshUntil {
            guard let keyID else { return false }
            if copy.keys.contains(where: { $0.keyID?.isExactly(keyID) ?? false }) { return false }
        }
        if isFetching { return true }
        // Whatever is wanted, a server is not asked more often than that. A clock that was set back does not silence it.
        guard let lastTry else { return true }
        return now >= lastTry + KeySetEndpoint.retryInterval || now < lastTry
    }

    private func fetch() async {
        isFetching = true
        defer {
            isFetching = false
            let resumed = waiting
            waiting = []
            for continuation in resumed { continuation.resume() }
        }
        let now = host.clock.now
        lastTry = now
        let old = copy
        switch await endpoint.fetch(unless: old?.entityTag) {
        case .keys(let set, let tag, let freshness):
            keep(set.keys, tag, until: now + freshness)
            if !set.skipped.isEmpty {
                host.meter.unscoped.add(Double(set.skipped.count), to: IssuerKeys.skipped)
            }
            if set.skipped != skipped { set.logSkipped(of: "\(endpoint.url)", to: host.logger) }
            skipped = set.skipped
        case .unchanged(let freshness):
            if let old { keep(old.keys, old.entityTag, until: now + freshness) }
        case .failed(let failure, let wasCancelled):
            // A caller that gave up says nothing about the server: the next one may try at once.
            if wasCancelled { lastTry = nil }
            note(failure)
        }
    }

    private func keep(_ keys: [JWK], _ entityTag: String?, until end: Instant) {
        copy = Copy(
            keys: keys, entityTag: entityTag, isFreshUntil: end, isUsableUntil: end + KeySetEndpoint.staleness)
    }

    private func note(_ failure: String) {
        lastFailure = failure
        host.logger.warning(
            "an issuer's keys cannot be fetched", metadata: ["url": "\(endpoint.url)", "error": "\(failure)"])
    }
}
