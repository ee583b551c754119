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

    static let retryInterval = Duration.seconds(30)
    static let shortestFreshness = Duration.seconds(300)
    static let longestFreshness = Duration.seconds(86_400)
    static let staleness = Duration.seconds(86_400)
    private static let byteLimit = 256 * 1024

    private let url: EndpointURL
    private let host: Host
    private var copy: Copy?
    private var lastTry: Instant?
    private var lastFailure = "it was not fetched yet"
    private var isFetching = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(url: EndpointURL, host: Host) {
        self.url = url
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
            throw KeysUnavailable("the keys at \(url) cannot be had: \(lastFailure)")
        }
        return copy.keys
    }

    private func needsFetch(_ keyID: String?) -> Bool {
        let now = host.clock.now
        if let copy, now < copy.isFreshUntil, keyID.map({ id in copy.keys.contains { $0.keyID == id } }) ?? true {
            return false
        }
        if isFetching { return true }
        // Whatever is wanted, a server is not asked more often than that. A clock that was set back does not silence it.
        guard let lastTry else { return true }
        return now >= lastTry + Self.retryInterval || now < lastTry
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
        var headers = [OutboundHeader("accept", "application/jwk-set+json, application/json")]
        if let tag = copy?.entityTag { headers.append(OutboundHeader("if-none-match", tag)) }
        let request = OutboundRequest(
            .get, url, headers: headers, timeLimit: .seconds(5), responseLimit: Self.byteLimit)
        let response: OutboundResponse
        do throws(OutboundFailure) {
            response = try await host.http.send(request)
        } catch {
            // A caller that gave up says nothing about the server: the next one may try at once.
            if error.code == .cancelled { lastTry = nil }
            note("\(error)")
            return
        }
        let freshUntil = now + Self.freshness(response)
        switch response.status {
        case 200:
            do throws(JWKError) {
                copy = Copy(
                    keys: try JWKSet(json: response.body).keys, entityTag: response.header("etag"),
                    isFreshUntil: freshUntil, isUsableUntil: freshUntil + Self.staleness)
            } catch {
                note("the document is not a set of keys")
            }
        case 304:
            guard let old = copy else { return note("304 to a request without a condition") }
            copy = Copy(
                keys: old.keys, entityTag: old.entityTag, isFreshUntil: freshUntil,
                isUsableUntil: freshUntil + Self.staleness)
        default:
            note("it answers with status \(response.status)")
        }
    }

    private func note(_ failure: String) {
        lastFailure = failure
        host.logger.warning("an issuer's keys cannot be fetched", metadata: ["url": "\(url)", "error": "\(failure)"])
    }

    /// How long a response may be used (RFC 9111, section 5.2.2.1), within bounds.
    private static func freshness(_ response: OutboundResponse) -> Duration {
        let directives = (response.header("cache-control") ?? "").split(separator: ",")
        let ages = directives.compactMap { directive -> Int64? in
            let parts = directive.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].filter({ $0 != " " }).lowercased() == "max-age" else { return nil }
            return Int64(parts[1].filter { $0 != " " && $0 != "\"" })
        }
        let age = Duration.seconds(min(max(ages.first ?? 3600, 0), 86_400))
        return min(max(age, shortestFreshness), longestFreshness)
    }
}
