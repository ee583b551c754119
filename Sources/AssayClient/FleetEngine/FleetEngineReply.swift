/// The replies of backends that make tokens for Fleet Engine: the families of Google's two samples, and token exchange.
///
/// Trips have `jwt`, `creationTimestamp` and `expirationTimestamp`; tasks have `token`, `creation_timestamp_ms` and
/// `expiration_timestamp_ms`; an exchange has `access_token`. Assay adds `expires_in`. Backends confuse seconds with
/// milliseconds, and text with numbers: what can be told apart is read, the rest is refused.
enum FleetEngineReply {
    /// The shortest lifetime that Google's SDKs accept.
    static let leastLifetime = Interval.minutes(5)
    private static let longestSeconds: Int64 = 86_400

    /// - Parameters:
    ///   - start: before the request was sent.
    ///   - unixMilliseconds: the device's wall clock; used only when the reply tells an end, no lifetime and no time of the server.
    static func read(
        _ response: ClientResponse, start: Moment, unixMilliseconds: Int64
    ) throws(AppCheckError) -> AppCheckToken {
        guard let reply = JSONValue.read(response.body), case .object = reply else {
            throw malformed("is no JSON object of at most \(ClientLimits.reply) bytes")
        }
        let text = ["jwt", "token", "access_token"].lazy.compactMap { reply[$0]?.text }.first
        guard let text, TokenClaims.isToken(text) else {
            throw malformed("has no token in `jwt`, `token` or `access_token`")
        }
        var lifetime = try lifetime(reply, response, unixMilliseconds)
        if let claimed = TokenClaims.lifetime(ofAny: text) { lifetime = min(lifetime, claimed) }
        guard lifetime >= leastLifetime else {
            throw malformed(
                "has a token with \(lifetime) left: Google's SDKs want 5 minutes. Check the backend's clock")
        }
        return AppCheckToken(text: text, requested: start, expires: start + lifetime, isLimitedUse: false)
    }

    private static func lifetime(
        _ reply: JSONValue, _ response: ClientResponse, _ unixMilliseconds: Int64
    ) throws(AppCheckError) -> Interval {
        if let (name, value) = field(["expires_in", "expiresInSeconds"], reply) {
            guard let number = number(value) else { throw malformed("has a `\(name)` that is no number") }
            if (1...longestSeconds).contains(number) { return .seconds(number) }
            // More than a day in seconds; in milliseconds five minutes to a day.
            if (300_000...longestSeconds * 1000).contains(number) { return .milliseconds(number) }
            throw malformed("has a `\(name)` of \(number), which is neither seconds nor milliseconds of a token's life")
        }
        guard let (name, value) = field(["expirationTimestamp", "expiration_timestamp_ms"], reply) else {
            throw malformed("does not say when the token ends: `expires_in` is missing")
        }
        guard let expires = timestamp(value) else {
            throw malformed("has a `\(name)` that is no time since 1970 in milliseconds or seconds")
        }
        // The server's own clock says best how much is left.
        let server = response.header("date").flatMap(HTTPDateText.seconds).map { $0 * 1000 }
        var left = expires - (server ?? unixMilliseconds)
        if let (_, value) = field(["creationTimestamp", "creation_timestamp_ms"], reply),
            let created = timestamp(value)
        {
            left = min(left, expires - created)
        }
        guard left > 0 else {
            throw malformed("has a token that has ended. Check the clocks of the backend and of this device")
        }
        return min(.milliseconds(left), .seconds(longestSeconds))
    }

    private static func field(_ names: [String], _ reply: JSONValue) -> (String, JSONValue)? {
        names.lazy.compactMap { name in reply[name].map { (name, $0) } }.first
    }

    /// A whole number, also as text or with a fraction of zero.
    private static func number(_ value: JSONValue) -> Int64? {
        switch value {
        case .integer(let number): number
        case .number(let number): Int64(exactly: number)
        case .string(let text):
            (1...18).contains(text.utf8.count) && text.utf8.allSatisfy(\.isDecimal) ? Int64(text) : nil
        default: nil
        }
    }

    /// Milliseconds since 1970, from milliseconds or seconds: no time between 1973 and 5138 can be both.
    private static func timestamp(_ value: JSONValue) -> Int64? {
        guard let number = number(value) else { return nil }
        if (100_000_000_000..<100_000_000_000_000).contains(number) { return number }
        return (1_000_000_000..<100_000_000_000).contains(number) ? number * 1000 : nil
    }

    private static func malformed(_ what: String) -> AppCheckError {
        AppCheckError(.malformedReply, "The reply with Fleet Engine's token \(what).")
    }
}
