internal import AssayCrypto
internal import AssayKit

/// Remembers which tokens were used, so that the second use of one is known.
///
/// A token is known by its app and its `jti`: two tokens with one `jti` count as one. It is remembered until it has expired
/// and an hour longer, should a clock be set back.
enum TokenConsumption {
    /// What uses are counted for. Google's service has `verifyAppCheckToken` count only its own calls, so protected
    /// services have another space, which they share.
    enum Scope: String {
        case verification
        case services
    }

    private static let memory = Duration.seconds(3600)

    /// Records a use, and returns whether it is the first one.
    ///
    /// When it returns, the use is stored: of any number of calls at the same time, one is told that it is the first, and
    /// none after a crash that follows. A caller that loses that answer is told on its next try that the token was used
    /// before, unless it names its request: the same name again gets the same answer.
    ///
    /// - Parameter request: what the caller calls its request; nil when it does not.
    /// - Throws: what the store throws. Whether the use is stored is not known then.
    static func consume(
        _ good: TokenInspection.Good, in scope: Scope, request: [UInt8]? = nil, store: any StateStore
    ) async throws -> Bool {
        let key = key(of: good, in: scope)
        if try await store.insert(key, value: request ?? [], expires: good.token.expires + memory) { return true }
        guard let request else { return false }
        return try await store.get(key) == request
    }

    /// Whether a use is recorded already.
    ///
    /// - Throws: what the store throws.
    static func isConsumed(
        _ good: TokenInspection.Good, in scope: Scope, store: any StateStore
    ) async throws -> Bool {
        try await store.get(key(of: good, in: scope)) != nil
    }

    private static func key(of good: TokenInspection.Good, in scope: Scope) -> StateKey {
        let resource = Array(good.app.identity.resource.utf8)
        let name = SHA256.hash(
            UInt64(resource.count).bigEndianBytes[...], resource[...], Array(good.token.id.utf8)[...])
        return StateKey("tokens/\(scope.rawValue)", Hex.encode(name))
    }
}
