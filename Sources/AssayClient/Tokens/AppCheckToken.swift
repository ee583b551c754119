/// An App Check token, and how long it lasts.
public struct AppCheckToken: Sendable {
    /// The JWT, for the header `X-Firebase-AppCheck`.
    public let text: String
    /// When it was asked for: its lifetime counts from before the request was sent.
    public let requested: Moment
    /// When it arrived: it was issued between the two.
    let received: Moment
    /// When it ends, at the latest.
    public let expires: Moment
    /// Whether it is good for one use.
    public let isLimitedUse: Bool

    /// - Parameter received: nil where that makes no difference.
    init(text: String, requested: Moment, received: Moment? = nil, expires: Moment, isLimitedUse: Bool) {
        self.text = text
        self.requested = requested
        self.received = received ?? requested
        self.expires = expires
        self.isLimitedUse = isLimitedUse
    }

    /// The same as ``text``, by the name that Firebase's SDKs have for it.
    public var token: String { text }

    /// The whole lifetime.
    var lifetime: Interval { expires - requested }
}

extension AppCheckToken: CustomStringConvertible, CustomDebugStringConvertible {
    /// Without the token itself, so that it gets into no log.
    public var description: String { "AppCheckToken(\(text.utf8.count) bytes, lasts \(lifetime))" }
    /// The same.
    public var debugDescription: String { description }
}
