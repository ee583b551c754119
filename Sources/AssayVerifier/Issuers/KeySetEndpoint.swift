package import AssayCore
package import AssayCrypto
package import Logging

/// A server's JWKS document: how to fetch it, and how long a copy is valid.
package struct KeySetEndpoint: Sendable {
    /// The result of a request.
    package enum Answer: Sendable {
        case keys(JWKSet, entityTag: String?, freshFor: Duration)
        /// The copy that the caller has is still the present one.
        case unchanged(freshFor: Duration)
        /// There is no new copy. A cancelled call says nothing about the server.
        case failed(String, wasCancelled: Bool)
    }

    /// The least and the most time for which a copy is valid, whatever the server says.
    package static let freshness: ClosedRange<Duration> = .seconds(300)...Duration.seconds(86_400)
    /// For how long a copy may be used after that, while no newer one can be had.
    package static let staleness = Duration.seconds(86_400)
    /// The server is not asked more often, however many tokens with unknown keys arrive.
    package static let retryInterval = Duration.seconds(30)
    /// For how long a key is not asked for again that the server did not have.
    ///
    /// It is short: the key may be published next.
    package static let missInterval = Duration.seconds(60)
    private static let byteLimit = 256 * 1024

    package let url: EndpointURL
    private let http: any OutboundHTTP

    package init(url: EndpointURL, http: any OutboundHTTP) {
        self.url = url
        self.http = http
    }

    /// Asks for the document.
    ///
    /// - Parameter entityTag: the entity tag of the present copy, if there is one.
    package func fetch(unless entityTag: String?) async -> Answer {
        var headers = [OutboundHeader("accept", "application/jwk-set+json, application/json")]
        if let entityTag { headers.append(OutboundHeader("if-none-match", entityTag)) }
        let request = OutboundRequest(
            .get, url, headers: headers, timeLimit: .seconds(5), responseLimit: Self.byteLimit)
        let response: OutboundResponse
        do throws(OutboundFailure) {
            response = try await http.send(request)
        } catch {
            return .failed("\(error)", wasCancelled: error.code == .cancelled)
        }
        switch response.status {
        case 200:
            guard let keys = try? JWKSet(json: response.body) else {
                return .failed("the document is not a set of keys", wasCancelled: false)
            }
            return .keys(keys, entityTag: response.header("etag"), freshFor: Self.freshness(response))
        case 304 where !entityTag.isNil:
            return .unchanged(freshFor: Self.freshness(response))
        case 304:
            return .failed("304 to a request without a condition", wasCancelled: false)
        default:
            return .failed("it answers with status \(response.status)", wasCancelled: false)
        }
    }

    /// How long a response may be used (RFC 9111, section 5.2.2.1), within bounds.
    private static func freshness(_ response: OutboundResponse) -> Duration {
        let ages = (response.header("cache-control") ?? "").split(onASCII: ",").compactMap { directive -> Int64? in
            let parts = directive.split(onASCII: "=", maxSplits: 1)
            guard parts.count == 2, trimmed(parts[0]).isExactlyIgnoringASCIICase("max-age") else { return nil }
            return Int64(trimmed(parts[1]))
        }
        let age = Duration.seconds(min(max(ages.first ?? 3600, 0), 86_400))
        return min(max(age, freshness.lowerBound), freshness.upperBound)
    }

    /// The text without spaces, tabs and quotation marks.
    private static func trimmed(_ text: Substring) -> String {
        String(decoding: text.utf8.filter { $0 != 0x20 && $0 != 0x09 && $0 != UInt8(ascii: "\"") }, as: UTF8.self)
    }
}

extension JWKSet {
    /// How many of the skipped keys a line of the log describes.
    private static let describedCount = 8

    /// Says in one line of the log which keys of a document are not used, and why; nothing where all are used.
    ///
    /// - Parameter source: where the document is from.
    package func logSkipped(of source: String, to logger: Logger) {
        guard !skipped.isEmpty else { return }
        let described = skipped.prefix(Self.describedCount).map(\.description).joined(separator: "; ")
        logger.warning(
            "keys of an issuer cannot be used and are skipped",
            metadata: [
                "source": "\(source)", "skipped": "\(skipped.count)", "used": "\(keys.count)",
                "problems": "\(described)",
            ])
    }
}
