public import AssayCore
public import AssayVerifier
internal import HTTPTypes
public import Hummingbird
internal import Logging

/// Lets requests pass that have a valid App Check token in the header `X-Firebase-AppCheck`.
///
///     let router = Router(context: Context.self)
///     router.add(middleware: AppCheckMiddleware(verifier))
///     router.get("/orders") { request, context in … context.appCheckToken?.subject … }
///
/// It answers all other requests itself, without a body: 401 without a valid token, 403 if its app or provider is not
/// accepted, 503 if no decision is possible now. Headers of clients with the names of a proxy's findings,
/// `X-AppCheck-…`, are always removed.
public struct AppCheckMiddleware<Context: AppCheckRequestContext>: RouterMiddleware {
    private let verifier: AppCheckVerifier
    private let mode: EnforcementMode
    private let consume: (@Sendable (_ token: String, VerifiedToken) async throws -> Bool)?
    private let report: @Sendable (AppCheckOutcome) -> Void

    /// Makes a middleware that verifies with a verifier.
    ///
    /// - `mode`: whether tokens are not checked, are checked and reported, or requests without a valid one are
    ///   refused.
    /// - `consume`: consumes a valid token, for routes where each may be used once; returns false when it was used
    ///   before.
    ///   Assay's method `verifyAppCheckToken` does that. What it throws means that it is not known, and never lets a
    ///   request through where tokens are enforced.
    /// - `report`: receives the outcome for each token, for metrics.
    public init(
        _ verifier: AppCheckVerifier, mode: EnforcementMode = .enforced,
        consume: (@Sendable (_ token: String, VerifiedToken) async throws -> Bool)? = nil,
        report: @escaping @Sendable (AppCheckOutcome) -> Void = { _ in }
    ) {
        self.verifier = verifier
        self.mode = mode
        self.consume = consume
        self.report = report
    }

    /// Verifies the token of a request, and calls `next` or answers itself.
    public func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var head = request.head
        head.headerFields.removeAll { Self.isFinding($0.name) }
        let request = Request(head: head, body: request.body)
        var context = context
        context.appCheckToken = nil
        guard mode > .off else { return try await next(request, context) }
        let outcome = await judge(request)
        report(outcome)
        switch outcome {
        case .verified(let token): context.appCheckToken = token
        case .refused(let reason):
            context.logger.debug("no valid App Check token", metadata: ["reason": "\(reason.code)"])
            if mode == .enforced { return Self.refusal(reason) }
        case .undecided(let detail):
            context.logger.warning("no decision about App Check tokens is possible", metadata: ["detail": "\(detail)"])
            if mode == .enforced { return Response(status: .serviceUnavailable) }
        }
        return try await next(request, context)
    }

    private func judge(_ request: Request) async -> AppCheckOutcome {
        let values = request.headers.filter { $0.name.canonicalName.isExactly("x-firebase-appcheck") }
            .map { String($0.value.trimmedASCII) }
        let text: String
        switch PresentedToken(values, targets: [request.uri.string]) {
        case nil: return .refused(TokenReasons.missing)
        case .several?: return .refused(TokenReasons.repeated)
        case .inURL?: return .refused(TokenReasons.inURL)
        case .one(let value)?: text = value
        }
        do {
            switch try await verifier.verify(text) {
            case .refused(let reason): return .refused(reason)
            case .verified(let token):
                guard try await consume?(text, token) ?? true else { return .refused(TokenReasons.reused) }
                return .verified(token)
            }
        } catch {
            return .undecided("\(error)")
        }
    }

    /// Whether a header is named like those of a proxy's findings; some servers treat `_` as `-`.
    private static func isFinding(_ name: HTTPField.Name) -> Bool {
        String(
            decoding: name.canonicalName.utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }, as: UTF8.self
        )
        .starts(withExactly: "x-appcheck-")
    }

    private static func refusal(_ reason: Reason) -> Response {
        switch reason {
        // Another token of the same app would be refused as well.
        case TokenReasons.appUnknown, TokenReasons.providerNotAllowed, TokenReasons.forDevelopment:
            Response(status: .forbidden)
        default:
            Response(
                status: .unauthorized,
                headers: [.wwwAuthenticate: "AppCheck realm=\"assay\", error=\"invalid_token\""])
        }
    }
}
