/// A session token in storage: the token, when it was asked for and when it ends by the device's monotonic clock, and
/// the start of the device that the clock counts from.
enum StoredToken {
    static let name = "token"

    static func encode(_ token: AppCheckToken, boot: String) -> [UInt8] {
        JSONText.object([
            ("version", .integer(1)), ("boot", .text(boot)), ("token", .text(token.text)),
            ("requested", .integer(token.requested.uptime.nanoseconds)),
            ("received", .integer(token.received.uptime.nanoseconds)),
            ("expires", .integer(token.expires.uptime.nanoseconds)),
        ])
    }

    /// Nil for anything else, for a token of another start of the device, and for one that has ended.
    static func decode(_ bytes: [UInt8], boot: String, at now: Moment) -> AppCheckToken? {
        guard let value = JSONValue.read(bytes), case .integer(1)? = value["version"],
            let stored = value["boot"]?.text, stored.sameBytes(as: boot), let text = value["token"]?.text,
            case .integer(let start)? = value["requested"], case .integer(let end)? = value["expires"]
        else { return nil }
        let requested = Moment(uptime: Interval(nanoseconds: start))
        let expires = Moment(uptime: Interval(nanoseconds: end))
        guard requested <= now, now < expires, expires - requested <= .minutes(7 * 24 * 60) else { return nil }
        var received = requested
        if case .integer(let time)? = value["received"] {
            received = min(max(Moment(uptime: Interval(nanoseconds: time)), requested), now)
        }
        return AppCheckToken(
            text: text, requested: requested, received: received, expires: expires, isLimitedUse: false)
    }
}
