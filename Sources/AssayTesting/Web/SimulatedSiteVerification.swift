public import AssayCore
internal import AssayCrypto
internal import Synchronization

/// The servers of Turnstile, hCaptcha and reCAPTCHA v3, as far as they are documented: they make tokens of pages, and answer `siteverify`.
///
/// It answers in the process, as the `PluginHost.http` of a test, or behind a socket (module `AssayTestingHTTP`):
///
///     let turnstile = SimulatedSiteVerification(.turnstile, clock: clock.hostClock)
///     try await LocalServer { turnstile.answer($0) }.run { port in … }
public final class SimulatedSiteVerification: OutboundHTTP {
    /// Whose server it is.
    public enum Service: Sendable, Hashable, CaseIterable {
        case turnstile
        case hcaptcha
        case recaptchaV3

        /// What is called.
        public var path: String {
            switch self {
            case .turnstile: "/turnstile/v0/siteverify"
            case .hcaptcha: "/siteverify"
            case .recaptchaV3: "/recaptcha/api/siteverify"
            }
        }

        /// How long a token can be verified.
        public var lifetime: Duration { self == .turnstile ? .seconds(300) : .seconds(120) }

        /// What is said of a token that is too old or was verified before.
        public var spentCode: String {
            self == .hcaptcha ? "invalid-or-already-seen-response" : "timeout-or-duplicate"
        }
    }

    private struct Made {
        let page: SimulatedPage
        /// The key of the question that used it up; empty for one without a key.
        var usedBy: ExactText?
    }

    private struct State {
        var made: [ExactText: Made] = [:]
    }

    /// Whose server it is.
    public let service: Service
    /// The secret of the operator.
    public let secret: String
    /// The site key of the operator, which is no secret.
    public let siteKey = "10000000-aaaa-bbbb-cccc-000000000001"
    /// Whether it remembers which tokens were verified, as the genuine services do.
    private let remembersTokens: Bool
    private let clock: HostClock
    private let scripted = RequestScript(keeping: 64)
    private let state = Mutex(State())

    /// Makes a server with a secret of its own.
    ///
    /// - `remembersTokens`: false for one that verifies a token again and again, as it does with the published secrets for tests.
    public init(_ service: Service, clock: HostClock, remembersTokens: Bool = true) {
        self.service = service
        self.clock = clock
        self.remembersTokens = remembersTokens
        secret = "0x4AAA-\(Hex.encode(Randomness.system.bytes(16)))"
    }

    /// The token that a page gets.
    public func token(_ page: SimulatedPage) -> String {
        let token = "0.\(Base64.encodeURL(Randomness.system.bytes(240)))"
        state.withLock { $0.made[ExactText(token)] = Made(page: page) }
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
        return .respond(verify(request))
    }

    /// Answers as `PluginHost.http`.
    public func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        try await answer(request).outcome(of: request, clock: clock)
    }

    /// The answer with these error codes.
    public static func refusal(_ codes: [String]) -> OutboundResponse {
        json(["success": false, "error-codes": .array(codes.map { .string($0) })])
    }

    private func verify(_ request: OutboundRequest) -> OutboundResponse {
        guard request.method == .post, request.url.path.isExactly(service.path) else {
            return OutboundResponse(status: 404)
        }
        let fields = FormFields(request.body)
        guard let secret = fields["secret"], !secret.isEmpty else { return Self.refusal(["missing-input-secret"]) }
        guard secret.isExactly(self.secret) else { return Self.refusal(["invalid-input-secret"]) }
        if service == .hcaptcha, let key = fields["sitekey"], !key.isExactly(siteKey) {
            return Self.refusal(["sitekey-secret-mismatch"])
        }
        guard let token = fields["response"], !token.isEmpty else { return Self.refusal(["missing-input-response"]) }
        // Only Turnstile knows the key.
        let key = ExactText(service == .turnstile ? fields["idempotency_key"] ?? "" : "")
        let isOpen = { [clock, service, remembersTokens] (made: Made) in
            let isUnused = made.usedBy == nil || !remembersTokens || !key.string.isEmpty && made.usedBy == key
            return isUnused && clock.now - made.page.made <= service.lifetime
        }
        let page = state.withLock { state -> (known: Bool, page: SimulatedPage?) in
            guard let made = state.made[ExactText(token)] else { return (false, nil) }
            guard isOpen(made) else { return (true, nil) }
            state.made[ExactText(token)]?.usedBy = key
            return (true, made.page)
        }
        guard page.known else { return Self.refusal(["invalid-input-response"]) }
        guard let page = page.page else { return Self.refusal([service.spentCode]) }
        return Self.json(.object(members(page)))
    }

    private func members(_ page: SimulatedPage) -> [JSONMember] {
        var members = [
            JSONMember("success", true), JSONMember("challenge_ts", .string("\(page.made)")),
            JSONMember("hostname", .string(page.hostname ?? "")),
        ]
        switch service {
        case .turnstile:
            members += [
                JSONMember("error-codes", []), JSONMember("action", .string(page.action)), JSONMember("cdata", ""),
                JSONMember("metadata", ["interactive": false]),
            ]
        case .hcaptcha:
            members.append(JSONMember("credit", false))
            // The score of a risk.
            if let score = page.score { members.append(JSONMember("score", .number(1 - score))) }
            if !page.risks.isEmpty {
                members.append(JSONMember("score_reason", .array(page.risks.map { .string($0) })))
            }
        case .recaptchaV3:
            members.append(JSONMember("action", .string(page.action)))
            if let score = page.score { members.append(JSONMember("score", .number(score))) }
        }
        return members
    }

    private static func json(_ body: JSON) -> OutboundResponse {
        OutboundResponse(
            status: 200, headers: [OutboundHeader("Content-Type", "application/json")], body: body.encoded)
    }
}

/// The fields of a form (WHATWG URL, section 5.1).
struct FormFields {
    private let fields: [(name: String, value: String)]

    init(_ body: [UInt8]) {
        fields = String(decoding: body, as: UTF8.self).split(onASCII: "&").map { pair in
            let parts = pair.split(onASCII: "=", maxSplits: 1)
            return (Self.decoded(parts.first ?? ""), parts.count == 2 ? Self.decoded(parts[1]) : "")
        }
    }

    subscript(name: String) -> String? { fields.first { $0.name.isExactly(name) }?.value }

    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = [rest.next(), rest.next()].compactMap { $0?.hexDigitValue }
                if digits.count == 2 { bytes.append(UInt8(digits[0] << 4 | digits[1])) }
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
