internal import AssayCore

/// Tokens that are issued without evidence to an authorised caller.
package enum MintedTokens {
    /// Their claim `provider`.
    ///
    /// Google does not document the value in its own tokens. Backends that accept the tokens of some providers only
    /// must be able to distinguish these, so no plugin may have that name.
    package static let provider = "mint"
    /// The lifetime of a session token when the caller names none.
    static let defaultLifetime = Duration.seconds(3600)
}
