public import AssayClient
public import GRPCCore

/// Puts the app's token into the metadata `x-firebase-appcheck` of each call of a client of grpc-swift.
///
///     let interceptor = AppCheckInterceptor(appCheck: appCheck, security: .tls)
///     let client = GRPCClient(transport: transport, interceptors: [interceptor])
///
/// - A call that fails with `UNAUTHENTICATED` because of its token is tried once more with a fresh one, when the client
///   has ``retryOnce``: an interceptor has one stream, and only the client can open another. Without it the next call
///   has the fresh token.
/// - The token is what was refused when the failure's metadata have a `www-authenticate` that
///   `TokenRefusal` knows. Envoy sends the one that it gets from Assay.
/// - A stream is tried again only while the server has answered nothing and the client still has its first message: it
///   keeps 64.
/// - A token that cannot be had fails the call. The `RPCError` has the `AppCheckError` as its cause.
@available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
public struct AppCheckInterceptor: ClientInterceptor {
    /// What keeps the token from being read on its way.
    public enum Security: Sendable {
        /// The transport has TLS.
        ///
        /// This is the program's word: no interceptor sees how its transport is set up.
        case tls
        /// Nothing. Calls to peers other than this machine fail: the transport's peer must be a loopback address, a
        /// Unix socket or this process.
        case onlyThisMachine
    }

    /// The policy that tries a call once more when its token was refused, and never for another reason.
    ///
    /// Put it into the service configuration of the transport, for all methods or for some.
    public static let retryOnce = RPCExecutionPolicy.retry(
        RetryPolicy(
            maxAttempts: 2, initialBackoff: .milliseconds(1), maxBackoff: .milliseconds(1), backoffMultiplier: 1,
            retryableStatusCodes: [.unauthenticated]))

    private static let key = "x-firebase-appcheck"

    private let appCheck: AppCheck
    private let kind: ProtectedCalls.TokenKind
    private let security: Security

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - appCheck: the app's tokens.
    ///   - kind: what is sent with each call; a token for one use is a new one for each try too.
    ///   - security: what the transport was given.
    public init(appCheck: AppCheck, token kind: ProtectedCalls.TokenKind = .session, security: Security) {
        self.appCheck = appCheck
        self.kind = kind
        self.security = security
    }

    /// Adds the token, and looks at the answer.
    public func intercept<Input: Sendable, Output: Sendable>(
        request: StreamingClientRequest<Input>, context: ClientContext,
        next: (StreamingClientRequest<Input>, ClientContext) async throws -> StreamingClientResponse<Output>
    ) async throws -> StreamingClientResponse<Output> {
        let token: AppCheckToken
        do throws(AppCheckError) {
            token = try await self.token(for: context)
        } catch {
            throw RPCError(error)
        }
        var request = request
        request.metadata.removeAllValues(forKey: Self.key)
        request.metadata.addString(token.text, forKey: Self.key)
        let response = try await next(request, context)
        guard case .failure(var error) = response.accepted, error.code == .unauthenticated else { return response }
        // The client reads this as it reads a server's word on retries (gRFC A6).
        let isWorthATry = await hasFreshToken(after: error, of: token)
        error.metadata.replaceOrAddString(isWorthATry ? "0" : "-1", forKey: "grpc-retry-pushback-ms")
        return StreamingClientResponse(error: error)
    }

    private func token(for context: ClientContext) async throws(AppCheckError) -> AppCheckToken {
        if case .onlyThisMachine = security, !PeerAddress.isThisMachine(context.remotePeer) {
            throw AppCheckError(
                .insecure,
                "The call goes to another machine, and the interceptor was told that the transport has no TLS. Set the "
                    + "transport up with TLS and write `security: .tls`.")
        }
        return switch kind {
        case .session: try await appCheck.token()
        case .limitedUse: try await appCheck.limitedUseToken()
        }
    }

    private func hasFreshToken(after error: RPCError, of token: AppCheckToken) async -> Bool {
        guard error.metadata[stringValues: "www-authenticate"].contains(where: TokenRefusal.isSaid(by:)),
            !error.metadata[stringValues: "grpc-previous-rpc-attempts"].contains(where: { _ in true })
        else { return false }
        switch kind {
        case .session:
            let fresh = try? await appCheck.token(after: token)
            return fresh != nil
        case .limitedUse: return true
        }
    }
}

@available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
extension RPCError {
    /// Why a call is not made; no status that the policy above tries again.
    fileprivate init(_ error: AppCheckError) {
        let code: Code =
            switch error.code {
            case .cancelled: .cancelled
            case _ where error.isTransient: .unavailable
            default: .failedPrecondition
            }
        self.init(code: code, message: "There is no App Check token for the call: \(error.message)", cause: error)
    }
}
