internal import AssayKit

/// A debug token that an administrator registered.
struct ManagedToken: Sendable, Hashable {
    /// A UUID that the server made.
    @Exact private(set) var id: String
    @Exact var displayName: String
    /// The SHA-256 of the token's text in lower case.
    let hash: [UInt8]
    let expires: Instant?
    var updated: Instant

    /// The longest name, in bytes.
    static let nameLimit = 256

    var view: DebugTokenView {
        DebugTokenView(id: id, displayName: displayName, expires: expires, updated: updated)
    }

    func isExpired(at now: Instant) -> Bool {
        expires.map { now >= $0 } ?? false
    }
}
