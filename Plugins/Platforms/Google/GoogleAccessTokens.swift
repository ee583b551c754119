public import AssayCore
internal import AssayCrypto
public import AssayKit
internal import Synchronization

/// The access tokens of a service account for one of Google's services (RFC 7523: a signed assertion for a token).
///
/// A token is kept until five minutes before its end; one request renews it before, while the others use the old one. Where there is none
/// to use, one request fetches it and the others wait for it. All instances with one account, scope and endpoint share it.
public struct GoogleAccessTokens: Sendable {
    /// The endpoint of Google's authorization server.
    public static let standardURL = "https://oauth2.googleapis.com/token"
    /// The most calls for one token.
    public static let callsPerToken = UpstreamInquiry.callsPerQuestion

    /// How long an assertion is valid; Google accepts an hour.
    private static let assertionLifetime: Int64 = 600
    /// How long before its end a token is not used any more, and how long before it is renewed.
    private static let reserve = Duration.seconds(300)
    private static let renewal = Duration.seconds(600)
    private static let lifetimes: ClosedRange<Int64> = 1...86_400
    private static let responseLimit = 16 * 1024

    /// The token that is in use, for all instances with one account, scope and endpoint.
    private final class Kept: Sendable {
        struct State {
            var token: (text: ExactText, end: Instant)?
            /// When a request began to renew the token that is in use.
            var renewing: Instant?
            /// Whether a request fetches a token, and the others that wait for it.
            var isFetching = false
            var waiting: [AsyncStream<Never>.Continuation] = []
            /// How the last fetch failed.
            var failure: UpstreamFailure?
        }

        let state = Mutex(State())
    }

    /// What a request does.
    private enum Turn {
        case use(String)
        case fetch
        /// It waits until the sequence ends, and looks again.
        case wait(AsyncStream<Never>)
    }

    private let account: GoogleServiceAccount
    private let url: EndpointURL
    private let scope: String
    private let clock: HostClock
    private let inquiry: UpstreamInquiry
    private let kept: Kept

    /// The tokens of an account.
    ///
    /// - Parameters:
    ///   - url: the endpoint for tokens.
    ///   - scope: what the tokens are for, a URL.
    public init(of account: GoogleServiceAccount, at url: EndpointURL, scope: String, host: PluginHost) {
        self.account = account
        self.url = url
        self.scope = scope
        clock = host.clock
        inquiry = UpstreamInquiry(of: url, host: host)
        kept = host.sharedObject("google \(url) \(scope) \(account.identity)") { Kept() }
    }

    /// That the endpoint does not accept the account; nil if it did when it was last asked.
    public var problem: String? { inquiry.problem }

    /// The token to use now: `Bearer `, then the token, for the header `Authorization`.
    ///
    /// - Parameter refused: what a service did not accept: another one is returned.
    /// - Throws: `UpstreamFailure` (`upstream_unavailable`) with what the endpoint answered, and a time to come back at.
    public func header(_ context: ProviderContext, insteadOf refused: String? = nil) async throws(UpstreamFailure)
        -> String
    {
        while true {
            switch turn(insteadOf: refused) {
            case .use(let header): return header
            case .fetch: return try await fetch(context, insteadOf: refused)
            case .wait(let ends):
                for await _ in ends {}
                guard !Task.isCancelled else { throw UpstreamFailure(.cancelled, "while waiting for an access token") }
                if let failure = kept.state.withLock({ $0.failure }) { throw failure }
            }
        }
    }

    /// What a request does now.
    private func turn(insteadOf refused: String?) -> Turn {
        let now = clock.now
        return kept.state.withLock { state in
            if let (text, end) = state.token, now < end - Self.reserve, !refused.isExactly(text.string) {
                // One renews it, and again after a minute if nothing came of it; the others use it meanwhile.
                if now < end - Self.renewal || state.isFetching { return .use(text.string) }
                if let began = state.renewing, began <= now, now < began + .seconds(60) { return .use(text.string) }
                state.renewing = now
            } else if state.isFetching {
                let (ends, request) = AsyncStream.makeStream(of: Never.self)
                state.waiting.append(request)
                return .wait(ends)
            }
            (state.isFetching, state.failure) = (true, nil)
            return .fetch
        }
    }

    /// Fetches a token for all requests.
    private func fetch(_ context: ProviderContext, insteadOf refused: String?) async throws(UpstreamFailure) -> String {
        do throws(UpstreamFailure) {
            let found = try await ask(context)
            let header = "Bearer \(found.text)"
            end { ($0.token, $0.renewing) = ((ExactText(header), clock.now + found.lifetime), nil) }
            return header
        } catch {
            // If this request was cancelled, that says nothing to the others: one of them asks anew.
            end { $0.failure = Task.isCancelled ? nil : error }
            // A token that can still be used is used; another request tries to renew it later.
            if refused.isNil, let (text, end) = kept.state.withLock({ $0.token }), clock.now < end - Self.reserve {
                return text.string
            }
            throw error
        }
    }

    /// Ends a fetch, and wakes those who wait for it.
    private func end(_ change: (inout Kept.State) -> Void) {
        let waiting = kept.state.withLock { state in
            state.isFetching = false
            change(&state)
            defer { state.waiting = [] }
            return state.waiting
        }
        for request in waiting { request.finish() }
    }

    private func ask(_ context: ProviderContext) async throws(UpstreamFailure) -> (text: String, lifetime: Duration) {
        do throws(CallFailure) {
            let verdict = try await inquiry.ask(about: "google-access-token", context) { _ in
                try assertion()
            } request: { [url] assertion in
                .form(
                    url, [("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", assertion)],
                    responseLimit: Self.responseLimit)
            } read: { response in
                .genuine(try Self.token(in: response))
            }
            guard case .genuine(let found) = verdict else { throw CallFailure(.unavailable, "no token") }
            return found
        } catch {
            throw UpstreamFailure(
                .unavailable, "no access token: \(error.detail ?? error.message)", retryAfter: error.retryAfter)
        }
    }

    private func assertion() throws -> String {
        let now = clock.now.seconds
        let claims: JSON = .object([
            "iss": .string(account.email), "scope": .string(scope), "aud": .string(url.text), "iat": .integer(now),
            "exp": .integer(now + Self.assertionLifetime),
        ])
        return try account.signer.sign(payload: claims.encoded)
    }

    private static func token(in response: OutboundResponse) throws -> (text: String, lifetime: Duration) {
        guard response.status == 200 else {
            // The error's code (RFC 6749, section 5.2), which holds no secret.
            let code = response.json?["error"]?.string.flatMap { isPlain($0, atMost: 64) ? $0 : nil }
            // A wrong key or a clock that is wrong: the operator's, and of no use to try again.
            guard response.status == 400 else { throw UpstreamFailure(response, code) }
            throw UpstreamFailure(.unauthorized, code)
        }
        guard let json = response.json, let text = json["access_token"]?.string, isPlain(text, atMost: 8192),
            let seconds = json["expires_in"]?.integer, lifetimes.contains(seconds),
            json["token_type"]?.string.map({ $0.lowercasedASCII.isExactly("bearer") }) ?? true
        else { throw UpstreamFailure(.malformed, "200 without an access token") }
        // Short ones are used for half of their time.
        return (text, .seconds(seconds < 600 ? seconds / 2 + 300 : seconds))
    }

    /// Whether a text may be in a header field and in records.
    private static func isPlain(_ text: String, atMost limit: Int) -> Bool {
        (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
