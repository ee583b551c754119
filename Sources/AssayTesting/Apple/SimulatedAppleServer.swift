public import AssayCore
internal import AssayCrypto
internal import Synchronization

/// Apple's servers, as far as they are documented: `attestationData`, which exchanges receipts, and DeviceCheck's
/// `validate_device_token`, `query_two_bits` and `update_two_bits`.
///
/// It answers in the process, under the names of Apple's hosts, as the `PluginHost.http` of a test:
///
///     let apple = SimulatedAppleServer(authority: ca, teams: [team], clock: clock.hostClock)
///     let host = PluginHost(clock: clock.hostClock, store: store, http: apple, logger: logger)
///
/// Behind a socket (module `AssayTestingHTTP`), there is one address for all hosts, and the path selects the
/// environment: `http://127.0.0.1:PORT/production/v1/attestationData`.
///
/// Undocumented behaviour of Apple is decided so that mistakes are visible: a key's receipts are exchanged once a day,
/// whichever of them is sent, tokens older than an hour are refused, and the texts of errors are those that were
/// observed.
public final class SimulatedAppleServer: OutboundHTTP {
    /// The form of the token in the header `Authorization`.
    public enum AuthorizationForm: Sendable, CaseIterable {
        case bare
        case bearer
        case either
    }

    struct State {
        var riskMetric = 1
        var riskMetrics: [String: Int] = [:]
        var forgotten: Set<String> = []
        /// From when on a key's receipts are exchanged again.
        var notBefore: [String: Instant] = [:]
        /// The bits of devices, by team and device.
        var bits: [String: DeviceBits] = [:]
        var usedTokens: Set<String> = []
    }

    let authority: SimulatedAppleCA
    let teams: [SimulatedAppleTeam]
    let form: AuthorizationForm
    let takesTokensOnce: Bool
    let clock: HostClock
    let state = Mutex(State())
    private let scripted: RequestScript

    /// Makes a simulated server.
    ///
    /// - `authority`: signed the receipts that the server knows, and signs new ones.
    /// - `teams`: the teams whose tokens are valid.
    /// - `takesTokensOnce`: whether a device token can be used for one question only, as those of devices.
    /// - `requestLimit`: how many requests are kept to be looked at.
    public init(
        authority: SimulatedAppleCA, teams: [SimulatedAppleTeam], form: AuthorizationForm = .either,
        takesTokensOnce: Bool = false, requestLimit: Int = 10_000, clock: HostClock
    ) {
        self.takesTokensOnce = takesTokensOnce
        scripted = RequestScript(keeping: requestLimit)
        self.authority = authority
        self.teams = teams
        self.form = form
        self.clock = clock
    }

    // MARK: What tests set and see

    /// The stored requests, in the order of their arrival.
    public var requests: [OutboundRequest] { scripted.requests }

    /// The risk metric of keys for which none was set; 1 at first.
    public var riskMetric: Int {
        get { state.withLock { $0.riskMetric } }
        set { state.withLock { $0.riskMetric = newValue } }
    }

    /// Sets the risk metric of a key, by its identifier in Base 64.
    public func setRiskMetric(_ metric: Int, ofKey keyID: String) {
        state.withLock { $0.riskMetrics[keyID] = metric }
    }

    /// Forgets a key, so that there is no data for its receipts.
    public func forget(_ keyID: String) {
        _ = state.withLock { $0.forgotten.insert(keyID) }
    }

    /// Answers the next requests in this way, one after the other, whatever they contain.
    public func script(_ answers: [ScriptedAnswer]) {
        scripted.add(answers)
    }

    /// Has the requests after this answered as they deserve.
    public func forgetScript() {
        scripted.clear()
    }

    // MARK: Answering

    /// What the server does with a request.
    public func answer(_ request: OutboundRequest) -> ScriptedAnswer {
        let answer = scripted.answer(request)
        guard case .proceed = answer else { return answer }
        guard let (environment, path) = Self.route(request.url) else { return .respond(Self.words(404, "Not Found")) }
        switch path {
        case "/v1/attestationData":
            guard request.method == .post else { return .respond(Self.words(405, "Method Not Allowed")) }
            return .respond(exchange(request, in: environment))
        case "/v1/validate_device_token", "/v1/query_two_bits", "/v1/update_two_bits":
            guard request.method == .post else { return .respond(Self.words(405, "Method Not Allowed")) }
            return .respond(deviceCheck(request, path, in: environment))
        default:
            return .respond(Self.words(404, "Not Found"))
        }
    }

    /// Answers a request as ``answer(_:)`` does, without a socket: what a plugin's host calls.
    public func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        try await answer(request).outcome(of: request, clock: clock)
    }

    /// The environment that a URL is of, by the host or by the beginning of the path, and the path that is left.
    private static func route(_ url: EndpointURL) -> (SimulatedEnvironment, String)? {
        switch url.host {
        case "data.appattest.apple.com", "api.devicecheck.apple.com": return (.production, url.path)
        case "data-development.appattest.apple.com", "api.development.devicecheck.apple.com":
            return (.development, url.path)
        default:
            if let path = url.path.dropping(prefix: "/production") { return (.production, path) }
            if let path = url.path.dropping(prefix: "/development") { return (.development, path) }
            return nil
        }
    }

    static func words(_ status: Int, _ text: String) -> OutboundResponse {
        OutboundResponse(
            status: status, headers: [OutboundHeader("Content-Type", "text/plain; charset=UTF-8")],
            body: Array(text.utf8))
    }
}

/// What a simulated server does with a request.
public enum ScriptedAnswer: Sendable {
    /// The default behaviour.
    case proceed
    case respond(OutboundResponse)
    /// Nothing at all: the caller's time runs out.
    case silence
    /// The response without its end: the caller's time runs out while it reads.
    case stall(OutboundResponse)
    /// The connection is closed without a word.
    case hangUp
}

extension ScriptedAnswer {
    /// The response, where a server always has one: 500 for anything else.
    package var response: OutboundResponse {
        if case .respond(let response) = self { response } else { OutboundResponse(status: 500) }
    }

    /// What a caller in the process sees of it.
    func outcome(
        of request: OutboundRequest, clock: HostClock
    ) async throws(OutboundFailure) -> OutboundResponse {
        switch self {
        case .respond(let response):
            guard response.body.count <= request.responseLimit else {
                throw OutboundFailure(.tooLarge, "more than \(request.responseLimit) bytes")
            }
            return response
        case .silence, .stall, .proceed:
            do {
                try await clock.sleep(for: request.timeLimit)
            } catch {
                throw OutboundFailure(.cancelled, "the task was cancelled")
            }
            throw OutboundFailure(.timedOut, "the simulated server does not answer")
        case .hangUp:
            throw OutboundFailure(.interrupted, "the simulated server hung up")
        }
    }
}
