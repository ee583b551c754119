public import AssayCore
internal import AssayCrypto
internal import Synchronization

/// Google's reCAPTCHA Enterprise, as far as it is documented: it makes tokens of pages and apps, gives access tokens to a service account
/// (`/token`), and assesses tokens (`/assessments`).
///
/// It answers in the process, as the `PluginHost.http` of a test, or behind a socket (module `AssayTestingHTTP`).
public final class SimulatedAssessments: OutboundHTTP {
    private struct Made {
        let page: SimulatedPage
        var isUsed = false
        /// What is wrong with it, in Google's word; nil for nothing.
        let invalid: String?
    }

    private struct State {
        var made: [ExactText: Made] = [:]
    }

    /// How long a token can be assessed.
    public static let lifetime = Duration.seconds(120)

    /// The ID of the Cloud project.
    public let project = "example-project"
    /// The site key, which is no secret.
    public let siteKey = "6LcExampleExampleExampleExampleExample"
    /// The API key of the operator.
    public let apiKey: String
    private let authority: SimulatedGoogleAuthority
    private let clock: HostClock
    private let scripted = RequestScript(keeping: 64)
    private let state = Mutex(State())

    /// Makes a server with keys of its own.
    public init(clock: HostClock) throws(SimulationError) {
        self.clock = clock
        apiKey = "AIza\(Hex.encode(Randomness.system.bytes(16)))"
        authority = try SimulatedGoogleAuthority(
            email: "pages@example-project.iam.gserviceaccount.com",
            scope: "https://www.googleapis.com/auth/cloud-platform", clock: clock)
    }

    /// The key file of the service account that may ask for assessments.
    public var accountFile: String { authority.accountFile }

    /// The token that a page or an app gets.
    ///
    /// - Parameter invalid: what is wrong with it: a word of `invalidReason`.
    public func token(_ page: SimulatedPage, invalid: String? = nil) -> String {
        let token = "03AF\(Base64.encodeURL(Randomness.system.bytes(300)))"
        state.withLock { $0.made[ExactText(token)] = Made(page: page, invalid: invalid) }
        return token
    }

    /// The first 64 requests, in the order of their arrival.
    public var requests: [OutboundRequest] { scripted.requests }

    /// What happens to the next requests, in their order; `.proceed` for its own answer.
    public func script(_ answers: [ScriptedAnswer]) {
        scripted.add(answers)
    }

    /// What is done with a request.
    public func answer(_ request: OutboundRequest) -> ScriptedAnswer {
        let answer = scripted.answer(request)
        guard case .proceed = answer else { return answer }
        return .respond(request.url.path.ends(withExactly: "/token") ? authority.grant(request) : assess(request))
    }

    /// Answers as `PluginHost.http`.
    public func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        try await answer(request).outcome(of: request, clock: clock)
    }

    /// The answer about a token that is invalid for a reason.
    public static func refusal(_ reason: String) -> OutboundResponse {
        SimulatedGoogleAuthority.json(200, ["tokenProperties": ["valid": false, "invalidReason": .string(reason)]])
    }

    private func assess(_ request: OutboundRequest) -> OutboundResponse {
        guard request.url.path.isExactly("/v1/projects/\(project)/assessments") else {
            return SimulatedPlayService.error(404, "NOT_FOUND")
        }
        if let key = request.header("X-Goog-Api-Key") {
            guard key.isExactly(apiKey) else { return SimulatedPlayService.error(400, "INVALID_ARGUMENT") }
        } else if !authority.accepts(request) {
            return SimulatedPlayService.error(401, "UNAUTHENTICATED")
        }
        let event = (try? JSON.parse(request.body))?["event"] ?? [:]
        guard let token = event["token"]?.string, let key = event["siteKey"]?.string, key.isExactly(siteKey) else {
            return SimulatedPlayService.error(400, "INVALID_ARGUMENT")
        }
        let made = state.withLock { state -> Made? in
            defer { state.made[ExactText(token)]?.isUsed = true }
            return state.made[ExactText(token)]
        }
        guard let made else { return Self.refusal("MALFORMED") }
        let expected = event["expectedAction"]?.string
        let reason: String? =
            if let invalid = made.invalid {
                invalid
            } else if made.isUsed {
                "DUPE"
            } else if clock.now - made.page.made > Self.lifetime {
                "EXPIRED"
            } else if let expected, !expected.isExactly(made.page.action) {
                "UNEXPECTED_ACTION"
            } else { nil }
        var properties = [
            JSONMember("valid", .bool(reason == nil)),
            JSONMember("invalidReason", .string(reason ?? "INVALID_REASON_UNSPECIFIED")),
            JSONMember("action", .string(made.page.action)), JSONMember("createTime", .string("\(made.page.made)")),
        ]
        for (name, value) in [
            ("hostname", made.page.hostname), ("androidPackageName", made.page.androidPackage),
            ("iosBundleId", made.page.bundleID),
        ] {
            if let value { properties.append(JSONMember(name, .string(value))) }
        }
        var risk = [JSONMember("reasons", .array(made.page.risks.map { .string($0) }))]
        // As Google's JSON, which leaves out what is 0.
        if let score = made.page.score, score != 0 { risk.append(JSONMember("score", .number(score))) }
        return SimulatedGoogleAuthority.json(
            200,
            [
                "name": .string("projects/1234567890/assessments/\(Hex.encode(Randomness.system.bytes(8)))"),
                "event": event,
                "tokenProperties": .object(properties), "riskAnalysis": .object(reason == nil ? risk : []),
            ])
    }
}
