/// Calls backends with the app's token in the header `X-Firebase-AppCheck`.
///
/// - A response 401 that says that the token is invalid (`WWW-Authenticate: AppCheck …, error="invalid_token"`) is
///   answered once with a fresh token.
/// - A token goes to `https` and to this machine only, never into a URL, and never to another origin: redirects to
///   one are not followed.
public struct ProtectedCalls: Sendable {
    /// What is sent with each request.
    public enum TokenKind: Sendable {
        /// The session token that all requests share.
        case session
        /// A token of its own for each request, for backends that accept a token once.
        case limitedUse
    }

    private static let header = "X-Firebase-AppCheck"
    private static let redirectLimit = 5

    private let appCheck: AppCheck
    private let transport: any ClientTransport
    private let kind: TokenKind
    private let isProven: Bool

    /// Makes a value that calls backends.
    ///
    /// - Parameter isProven: whether each request is sent with a proof that this device made it, for backends that demand
    ///   one (``AppCheck/proof(of:with:)``).
    public init(
        appCheck: AppCheck, transport: any ClientTransport, token kind: TokenKind = .session,
        proving isProven: Bool = false
    ) {
        self.isProven = isProven
        self.appCheck = appCheck
        self.transport = transport
        self.kind = kind
    }

    /// Sends a request with a token, and returns the response, whatever its status.
    ///
    /// A GET or HEAD is redirected within its origin, five times at most. Of another method the response is returned.
    ///
    /// - Throws: `insecure` when the request would expose the token, `redirected` when it is sent to another origin,
    ///   `unreachable`, or the reason why there is no token.
    public func send(_ request: ClientRequest) async throws(AppCheckError) -> ClientResponse {
        guard var address = ServerAddress(request.url) else { throw Self.unprotected }
        var request = request
        var token = try await appCheck.token(kind)
        var isFresh = false
        var redirects = 0
        while true {
            guard !request.url.utf8.hasRun(token.text.utf8) else {
                throw AppCheckError(
                    .insecure, "The URL has the token in it, where logs and proxies see it. Leave it to the header.")
            }
            var sent = request
            sent.set([ClientHeader(Self.header, token.text)])
            if isProven {
                do throws(AppCheckError) {
                    sent.set(try await appCheck.proof(of: request, with: token))
                } catch {
                    guard error.code == .keyChanged, !isFresh else { throw error }
                    isFresh = true
                    token = try await renewed()
                    continue
                }
            }
            let response = try await transport.deliver(sent)
            if response.refusesToken, !isFresh, let fresh = try await fresh(after: token) {
                isFresh = true
                token = fresh
                continue
            }
            guard (300...399).contains(response.status), let location = response.header("location") else {
                return response
            }
            guard let next = address.redirected(to: location), next.hasOrigin(of: address) else {
                throw AppCheckError(
                    .redirected,
                    "The backend sends the request to another origin, which must not get the token. Call that address "
                        + "itself if it is yours.", status: response.status)
            }
            guard ["GET", "HEAD"].contains(where: { request.method.sameBytes(as: $0) }), redirects < Self.redirectLimit
            else { return response }
            redirects += 1
            address = next
            request.url = next.text
        }
    }

    private func fresh(after token: AppCheckToken) async throws(AppCheckError) -> AppCheckToken? {
        switch kind {
        case .session: try await appCheck.token(after: token)
        case .limitedUse: try await appCheck.limitedUseToken()
        }
    }

    private func renewed() async throws(AppCheckError) -> AppCheckToken {
        switch kind {
        case .session: try await appCheck.token(forcingRefresh: true)
        case .limitedUse: try await appCheck.limitedUseToken()
        }
    }

    static let unprotected = AppCheckError(
        .insecure,
        "A token is sent to https, or to localhost, 127.0.0.1 and [::1], and to no URL with a user or a fragment.")
}

extension AppCheck {
    /// A token of a kind.
    nonisolated(nonsending) func token(_ kind: ProtectedCalls.TokenKind) async throws(AppCheckError) -> AppCheckToken {
        switch kind {
        case .session: try await token()
        case .limitedUse: try await limitedUseToken()
        }
    }
}

extension ClientRequest {
    /// Replaces header fields by others of the same names.
    fileprivate mutating func set(_ fields: [ClientHeader]) {
        headers.removeAll { old in fields.contains { $0.name.loweredASCII.sameBytes(as: old.name.loweredASCII) } }
        headers += fields
    }
}

extension ClientResponse {
    /// Whether it says that the App Check token is what is wrong.
    var refusesToken: Bool {
        status == 401
            && headers.contains { header in
                header.name.loweredASCII.sameBytes(as: "www-authenticate") && TokenRefusal.isSaid(by: header.value)
            }
    }
}

extension String.UTF8View {
    /// Whether some bytes are in it, one after the other.
    func hasRun(_ run: String.UTF8View) -> Bool {
        let (text, run) = (Array(self), Array(run))
        guard let first = run.first, run.count <= text.count else { return false }
        return (0...text.count - run.count).contains {
            text[$0] == first && text[$0..<$0 + run.count].elementsEqual(run)
        }
    }
}
