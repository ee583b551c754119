package import AssayKit

/// A token that authorises a team's server at Apple's: ES256, with `kid`, `iss` and `iat`.
package struct AppleServerToken: Sendable, Hashable {
    @Exact package private(set) var text: String
    /// Its `iat`.
    package let issued: Instant
}
