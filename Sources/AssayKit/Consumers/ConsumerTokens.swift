public import AssayCore

/// The kernel's token operations for a consumer.
public protocol ConsumerTokens: Sendable {
    /// Signs a JWT by the key that signs App Check tokens.
    ///
    /// - Parameters:
    ///   - type: `typ` of the header, which distinguishes the JWT from others; never `JWT`, which App Check tokens
    ///     have.
    ///   - claims: an object, whose `exp` is within the descriptor's ``PluginLimits/tokenLifetime``.
    func sign(type: String, claims: JSON) throws -> String

    /// A JWT of this service with its signature verified by a published key; nil when it is something else. The caller
    /// judges the type and all claims, times included.
    func own(_ token: String) -> OwnToken?

    /// Verifies an App Check token that came in a message, and consumes it: a limited-use token always, a session token
    /// if the demand has replay protection.
    ///
    /// - Throws: when no decision is possible now, such as when the state store is unavailable.
    func inspect(_ token: String, _ demand: TokenDemand) async throws -> TokenFinding

    /// Verifies an App Check token without consuming it, for information only: do not grant anything for it. A token
    /// that was consumed anywhere is refused as used before.
    ///
    /// - Throws: when no decision is possible now, such as when the state store is unavailable.
    func look(at token: String, _ demand: TokenDemand) async throws -> TokenFinding
}
