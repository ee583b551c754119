public import AssayCore
public import AssayKit

/// Tokens for a consumer that is tried without a kernel: nothing can be signed, and no token is known.
public struct NoTokens: ConsumerTokens {
    /// Tokens without keys.
    public init() {}

    /// Throws a `CallFailure` with `UNAVAILABLE`.
    public func sign(type: String, claims: JSON) throws -> String {
        throw CallFailure(.unavailable, "There is no key.")
    }

    /// Knows no token.
    public func own(_ token: String) -> OwnToken? { nil }

    /// Throws a `CallFailure` with `UNAVAILABLE`.
    public func inspect(_ token: String, _ demand: TokenDemand) async throws -> TokenFinding {
        throw CallFailure(.unavailable, "There are no keys.")
    }

    /// Throws a `CallFailure` with `UNAVAILABLE`.
    public func look(at token: String, _ demand: TokenDemand) async throws -> TokenFinding {
        try await inspect(token, demand)
    }
}
