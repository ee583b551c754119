package import AssayKit

/// A token that authorises a team's server at Apple's: ES256, with `kid`, `iss` and `iat`.
package struct AppleServerToken: Sendable, Hashable {
    package let text: String
    /// Its `iat`.
    package let issued: Instant
}
