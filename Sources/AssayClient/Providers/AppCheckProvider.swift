/// Makes evidence and exchanges it for a token: App Attest, DeviceCheck, debug tokens, or what an app has of its own.
///
/// What an implementation must keep:
///
/// - A token is for `request.isLimitedUse`: one that is must not be kept or given twice.
/// - It is called by one caller at a time for an ``AppCheck``; several may share a provider.
/// - It stops when its task is cancelled, which is when it takes too long.
/// - It throws an ``AppCheckError`` where it knows what to do about the failure; with `retryAfter` it says when to come
///   back. After any other error the next call asks it again.
///
/// A provider for a method that a plugin of the server adds:
///
///     struct DoorLockProvider: AppCheckProvider {
///         func token(_ request: TokenRequest) async throws -> IssuedToken {
///             let challenge = try await request.service.challenge("generateDoorLockChallenge")
///             return try await request.service.exchange(
///                 "exchangeDoorLockCode", ["code": .bytes(lock.sign(challenge))], isLimitedUse: request.isLimitedUse)
///         }
///     }
public protocol AppCheckProvider: Sendable {
    /// A new token.
    func token(_ request: TokenRequest) async throws -> IssuedToken
}

/// What a provider is asked for, and what it may use.
public struct TokenRequest: Sendable {
    /// Whether the token is for one use.
    public let isLimitedUse: Bool
    /// The resource name of the app.
    public let app: String
    /// The methods of the server.
    public let service: AppCheckService
    /// What is kept for this app at this server.
    public let storage: BoundStorage
    /// Takes sentences for a developer.
    public let notice: @Sendable (String) -> Void
    /// The value of an environment variable.
    public let environment: @Sendable (String) -> String?
}

/// A token as a provider returns it; the library checks whose it is.
public struct IssuedToken: Sendable {
    /// The JWT.
    public let text: String
    /// How long it lasts.
    public let lifetime: Interval
    /// When it was asked for; nil for when the provider was called.
    public let requested: Moment?

    /// Makes a token from the reply of a server of the app's own.
    public init(text: String, lifetime: Interval, requested: Moment? = nil) {
        self.text = text
        self.lifetime = lifetime
        self.requested = requested
    }
}

extension IssuedToken: CustomStringConvertible, CustomDebugStringConvertible {
    /// Without the token itself, so that it gets into no log.
    public var description: String { "IssuedToken(\(text.utf8.count) bytes, lasts \(lifetime))" }
    /// The same.
    public var debugDescription: String { description }
}

/// A provider that is a closure: for tokens that a backend of the app's own gets for it.
///
///     let provider = CustomProvider { request in
///         let reply = try await backend.appCheckToken(limitedUse: request.isLimitedUse)
///         return IssuedToken(text: reply.token, lifetime: .seconds(reply.seconds))
///     }
public struct CustomProvider: AppCheckProvider {
    private let fetch: @Sendable (TokenRequest) async throws -> IssuedToken

    /// Makes a provider of a closure, for which the rules of ``AppCheckProvider`` hold.
    public init(_ fetch: @escaping @Sendable (TokenRequest) async throws -> IssuedToken) {
        self.fetch = fetch
    }

    /// Calls the closure.
    public func token(_ request: TokenRequest) async throws -> IssuedToken {
        try await fetch(request)
    }
}
