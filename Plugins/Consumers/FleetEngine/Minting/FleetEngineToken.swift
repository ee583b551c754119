public import AssayKit

/// A token for Fleet Engine: `authorization: Bearer TOKEN`.
public struct FleetEngineToken: Sendable, Hashable {
    /// The JWT.
    @Exact public private(set) var text: String
    /// When it was made, in whole seconds; its `iat` is a minute earlier.
    public let created: Instant
    /// `exp`.
    public let expires: Instant

    init(_ text: String, created: Instant, expires: Instant) {
        self.text = text
        self.created = created
        self.expires = expires
    }

    /// Whether it has more than half of its life before it. A clock that was set back says nothing about that.
    func isReusable(at now: Instant) -> Bool {
        created <= now && (expires - now) * 2 > expires - created
    }
}
