internal import AssayCore
internal import Synchronization

/// The other servers of a plugin under test: they answer as its author says, or as no server should.
final class ConformanceUpstream: OutboundHTTP {
    /// How the servers behave.
    enum Mood: Sendable {
        /// As the author says.
        case genuine
        /// No connection is made.
        case dead
        /// No answer comes.
        case slow
        /// An answer that is none of the genuine server.
        case lying(OutboundResponse)
        /// A "no" of the genuine server, or an answer after which nothing is decided.
        case denying(UpstreamDenial)
        /// The genuine answer, with one thing changed.
        case altered(AnswerAlteration)
        /// A refusal that repeats the whole request.
        case echoing
        /// More bytes than the caller takes.
        case huge
    }

    /// Answers that look like one, and are not.
    static let lies: [(what: String, response: OutboundResponse)] = [
        ("status 500", OutboundResponse(status: 500)),
        ("status 204 without a body", OutboundResponse(status: 204)),
        ("status 302", OutboundResponse(status: 302, headers: [OutboundHeader("Location", "http://192.0.2.1/")])),
        ("status 400", OutboundResponse(status: 400)),
        ("status 401", OutboundResponse(status: 401)),
        ("status 403", OutboundResponse(status: 403)),
        ("status 404", OutboundResponse(status: 404)),
        ("status 429", OutboundResponse(status: 429, headers: [OutboundHeader("Retry-After", "30")])),
        ("status 200 with an empty body", OutboundResponse(status: 200)),
        ("status 200 with a page", json("<html><body>OK</body></html>")),
        ("status 200 with an empty object", json("{}")),
        ("status 200 with an empty list", json("[]")),
        ("status 200 with null", json("null")),
        ("status 200 with half an object", json("{\"ok\": tru")),
        ("status 200 with bytes that are no text", OutboundResponse(status: 200, body: [0xFF, 0xFE, 0x00, 0x80])),
        ("status 200 with a deep list", json(String(repeating: "[", count: 5000))),
        (
            "status 200 with members of other types",
            json(
                #"{"allow": "yes", "valid": [], "ok": 1, "result": {}, "keys": "x", "status": null, "access_token": 5}"#
            )
        ),
    ]

    private let answer: (@Sendable (OutboundRequest) async -> OutboundResponse)?
    private let clock: HostClock
    private let state = Mutex<(mood: Mood, requests: Int, awaited: Int, saidTheTruth: Bool)>((.genuine, 0, 0, false))
    private let largest = Mutex(0)
    /// The first bodies of genuine answers, and how many answers were altered.
    private let truths = Mutex<(bodies: [[UInt8]], altered: Int)>(([], 0))
    private static let mostTruths = 8

    init(_ answer: (@Sendable (OutboundRequest) async -> OutboundResponse)?, clock: HostClock) {
        self.answer = answer
        self.clock = clock
    }

    /// How the servers behave from now on.
    var mood: Mood {
        get { state.withLock { $0.mood } }
        set { state.withLock { $0.mood = newValue } }
    }

    /// Whether a request waits for an answer that does not come.
    var isAwaited: Bool { state.withLock { $0.awaited > 0 } }

    /// How many requests there were.
    var requests: Int { state.withLock { $0.requests } }

    /// The most bytes that a request allowed for its response.
    var largestResponse: Int { largest.withLock { $0 } }

    /// The first bodies of genuine answers.
    var genuineBodies: [[UInt8]] { truths.withLock { $0.bodies } }

    /// Whether an answer was altered.
    var hasAltered: Bool { truths.withLock { $0.altered > 0 } }

    /// Whether a lie was what the genuine server says.
    var saidTheTruth: Bool { state.withLock { $0.saidTheTruth } }

    func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        let mood = state.withLock { state in
            state.requests += 1
            return state.mood
        }
        largest.withLock { $0 = max($0, request.responseLimit) }
        switch mood {
        case .genuine:
            let truth = try await truth(request)
            truths.withLock { if $0.bodies.count < Self.mostTruths { $0.bodies.append(truth.body) } }
            return truth
        case .altered(let alteration):
            let truth = try await truth(request)
            guard let altered = alteration.applied(to: truth) else { return truth }
            truths.withLock { $0.altered += 1 }
            return altered
        case .echoing:
            let headers = request.headers.flatMap { Array("\($0.name): \($0.value)\n".utf8) }
            return OutboundResponse(status: 400, body: headers + Array("\(request.url)\n".utf8) + (request.body ?? []))
        case .dead: throw OutboundFailure(.cannotConnect, "nobody listens")
        case .slow:
            state.withLock { $0.awaited += 1 }
            defer { state.withLock { $0.awaited -= 1 } }
            do {
                try await clock.sleep(for: request.timeLimit)
            } catch {
                throw OutboundFailure(.cancelled, "the call was cancelled")
            }
            throw OutboundFailure(.timedOut, "no answer came")
        case .lying(let response):
            // A few lies are what some genuine server says.
            if let truth = await answer?(request), truth.status == response.status, truth.body == response.body {
                state.withLock { $0.saidTheTruth = true }
            }
            return response
        case .denying(let denial):
            guard !denial.matches(request), let answer else { return denial.response }
            return await answer(request)
        case .huge: throw OutboundFailure(.tooLarge, "the response has more than \(request.responseLimit) bytes")
        }
    }

    private func truth(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        guard let answer else { throw OutboundFailure(.cannotConnect, "the suite has no server") }
        return await answer(request)
    }

    private static func json(_ text: String) -> OutboundResponse {
        OutboundResponse(
            status: 200, headers: [OutboundHeader("Content-Type", "application/json")], body: Array(text.utf8))
    }
}
