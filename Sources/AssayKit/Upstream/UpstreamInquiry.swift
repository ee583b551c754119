public import AssayCore
internal import Logging
internal import Synchronization

/// Asks a server whether evidence is genuine, for one app: within limits and a deadline, again if that may help, and not at
/// all while the server is down or asks clients to wait.
///
/// For evidence that only its maker can judge, such as the token of a device or of a page. A provider has one for each
/// instance, and says in its descriptor what it takes:
///
///     metrics: UpstreamInquiry.metrics, limits: PluginLimits(outboundCalls: UpstreamInquiry.callsPerQuestion)
///
/// - *Places*: all apps that ask one server share 96, of which one app has 48 and one peer 32; those who wait for one take turns
///   by their peers, peers that were verified before come first.
/// - *Tries*: up to three within the deadline, if the server cannot have seen the question or says that it cannot answer now; a
///   refusal after such a try decides nothing. Where the server takes a key of idempotency, the key is the same in all tries, and
///   the question is `isIdempotent`: then it is also put again when the answer was lost, and a refusal counts after any try.
/// - *Credentials*: one that the server does not accept is made anew, once. While it accepts none, ``problem`` says so.
/// - *Pauses*: after 429 the server is asked nothing for as long as it says; strangers wait longer than verified peers. After
///   five failures in a row it is asked nothing for half a minute, then once.
/// - *Refusals*: evidence that was refused is refused for ten minutes without another question. A stranger who sends
///   much of it is not asked about any more for a while; what the server answers in a way that evidence may have caused counts too, and
///   what the provider refuses itself: ``countRefusal(_:)``.
public final class UpstreamInquiry: Sendable {
    /// The most calls for one question: each try, and once more with a new credential.
    public static let callsPerQuestion = tries + 1
    /// What a provider's descriptor lists among its metrics.
    public static let metrics = [answers, circuitChanges]

    private static let answers = Metric.counter(
        "answers_total", "Questions to the upstream, by their results.",
        labels: [.init("result", ["genuine", "refused"] + UpstreamFailure.Kind.allCases.map(\.rawValue))])
    private static let circuitChanges = Metric.counter(
        "circuit_changes_total", "How often the circuit breaker entered a state by an answer.",
        labels: [.init("state", CircuitBreaker.State.allCases.map(\.rawValue))])

    /// How long one request may take, and the least that one is begun with.
    private static let requestLimit = Duration.seconds(5)
    private static let leastTime = Duration.seconds(1)
    /// How often a question is put that fails for a moment only.
    private static let tries = 3
    /// The longest wait for another try.
    private static let patience = Duration.seconds(2)
    private static let backoff = Backoff(first: .milliseconds(200), limit: .seconds(2))
    /// The part of the deadline that is kept for the answer.
    private static let reserve = Duration.milliseconds(250)
    /// The longest wait for a place.
    private static let placePatience = Duration.seconds(2)
    /// Clients are not told to wait longer, whatever the server says.
    private static let longestPause = Duration.seconds(3600)

    private let server: EndpointURL
    private let limited: Reason?
    private let gate: UpstreamGate
    private let host: PluginHost
    private let pause = Mutex(ThrottlePause())
    private let refused = RefusedEvidence()
    private let isUnauthorized = Mutex(false)

    /// - Parameters:
    ///   - server: names the server that all questions go to; all who ask it share its places and its circuit breaker.
    ///   - limited: the reason for strangers whose evidence the server refused too often; also among the descriptor's
    ///     `answers`, as ``limitedAnswer(_:wait:)``. Nil if strangers are asked about all the same, after all others.
    public init(of server: EndpointURL, host: PluginHost, limited: Reason? = nil) {
        self.server = server
        self.limited = limited
        self.host = host
        gate = .to(server, host: host)
    }

    /// The answer to a stranger whose evidence was refused too often, for the descriptor's `answers`.
    public static func limitedAnswer(_ reason: Reason, wait: Duration? = nil) -> CallFailure {
        CallFailure(
            .resourceExhausted, "Quota exceeded for evidence of this client.", reason: reason, retryAfter: wait)
    }

    /// That the server accepted no credential when it was last asked, for the provider's own `problem`; nil if it did.
    public var problem: String? {
        isUnauthorized.withLock { $0 } ? "\(server.host) does not accept the credentials of the section" : nil
    }

    /// Whether the server refused the evidence in the last ten minutes.
    ///
    /// ``ask(about:_:isIdempotent:hiding:credential:request:read:)`` asks this itself.
    public func hasRefused(_ evidence: String) -> Bool {
        refused.contains(ExactText(evidence), at: clock.uptime)
    }

    /// Asks the server about a piece of evidence.
    ///
    /// - Parameters:
    ///   - evidence: what tells it from other evidence: its digest, in hexadecimal digits.
    ///   - isIdempotent: whether the server gives all tries one answer, because each has the same key of idempotency.
    ///   - secrets: texts that no record may repeat, such as the evidence; credentials are among them in any case.
    ///   - credential: what authorises the request now; if the server did not accept `refused`, another one if there is
    ///     one. Without this, requests are made with an empty text.
    ///   - request: makes the request of one try. The inquiry sets its time limit.
    ///   - read: what a response says; throws an ``UpstreamFailure`` for one that is not clearly about the evidence, such as
    ///     `UpstreamFailure(response)`.
    /// - Throws: `CallFailure`: `UNAVAILABLE` with a time to come back at when the server did not decide,
    ///   `RESOURCE_EXHAUSTED` with the reason `limited`.
    public func ask<Answer: Sendable>(
        about evidence: String, _ context: ProviderContext, isIdempotent: Bool = false, hiding secrets: [String] = [],
        credential: @Sendable (_ refused: String?) async throws -> String = { _ in "" },
        request: @Sendable (_ credential: String) throws -> OutboundRequest,
        read: @Sendable (OutboundResponse) throws -> UpstreamVerdict<Answer>
    ) async throws(CallFailure) -> UpstreamVerdict<Answer> {
        let name = ExactText(evidence)
        // Who has a permission is no stranger.
        let isTrusted = !context.caller.isNil
        if !isTrusted, hasRefused(evidence) { return .refused(detail: "the upstream refused it before") }
        let asker = try asker(context)
        do throws(UpstreamFailure) {
            let verdict = try await admit(asker, deadline: context.deadline - Self.reserve) {
                (deadline) async throws(UpstreamFailure) in
                try await self.persist(deadline, isIdempotent, secrets, credential, request, read)
            }
            switch verdict {
            case .genuine: host.meter.add(to: Self.answers, "genuine")
            case .refused:
                host.meter.add(to: Self.answers, "refused")
                if !isTrusted { refused.insert(name, of: asker.peer, at: clock.uptime) }
            }
            return verdict
        } catch {
            host.meter.add(to: Self.answers, error.kind.rawValue)
            if !isTrusted, error.mayComeOfEvidence { refused.charge(asker.peer, at: clock.uptime) }
            throw Self.unavailable(error)
        }
    }

    /// Counts evidence for which the provider gives no token after the server was asked, such as the token of another host: a stranger who
    /// sends much of it is not asked about any more for a while.
    public func countRefusal(_ context: ProviderContext) {
        if context.caller.isNil { refused.charge(context.peerGroup, at: clock.uptime) }
    }

    private var clock: HostClock { host.clock }

    /// The answer to a client about whose evidence nothing could be decided.
    private static func unavailable(_ failure: UpstreamFailure) -> CallFailure {
        CallFailure(
            .unavailable, "The service is currently unavailable.", detail: "\(failure)",
            retryAfter: min(max(failure.retryAfter ?? .seconds(5), .seconds(1)), longestPause))
    }

    /// The peer that the server is asked for.
    ///
    /// - Throws: `CallFailure` for a stranger whose evidence the server refused too often.
    private func asker(_ context: ProviderContext) throws(CallFailure) -> Asker {
        let peer = context.peerGroup
        if !context.caller.isNil { return Asker(peer: peer, standing: .verified) }
        let isVerified = context.peerWasVerified
        guard let wait = refused.wait(peer, at: clock.uptime) else {
            return Asker(peer: peer, standing: isVerified ? .verified : .unknown)
        }
        // Many clients may share an address of which one was verified, or a proxy that the server does not know.
        if let limited, !isVerified, peer.isOfTheInternet { throw Self.limitedAnswer(limited, wait: wait) }
        return Asker(peer: peer, standing: .suspect)
    }

    // MARK: - Bounds

    /// Asks when there is a place, and the server does not ask clients to wait.
    private func admit<Answer>(
        _ asker: Asker, deadline: Instant,
        _ ask: @Sendable (_ deadline: Instant) async throws(UpstreamFailure) -> UpstreamVerdict<Answer>
    ) async throws(UpstreamFailure) -> UpstreamVerdict<Answer> {
        // A request that would not be allowed afterwards does not wait for a place.
        if let wait = pause.withLock({ $0.wait(asker.standing, at: clock.uptime) }) { throw Self.paused(wait) }
        let (app, places) = (ObjectIdentifier(self), gate.places)
        let patience = min(Self.placePatience, deadline - clock.now - Self.leastTime)
        guard await places.enter(app, asker, patience: patience, clock: clock) else {
            throw UpstreamFailure(.crowded, retryAfter: .seconds(1))
        }
        defer { places.leave(app, asker.peer) }
        let pass: ThrottlePause.Pass
        switch pause.withLock({ $0.begin(asker.standing, at: clock.uptime) }) {
        case .refused(let wait): throw Self.paused(wait)
        case .admitted(let admitted): pass = admitted
        }
        do throws(UpstreamFailure) {
            let verdict = try await ask(deadline)
            pause.withLock { $0.ended(pass, isAnswered: true) }
            return verdict
        } catch {
            guard error.kind == .throttled else {
                pause.withLock { $0.ended(pass, isAnswered: false) }
                throw error
            }
            let wait = pause.withLock { $0.throttled(pass, retryAfter: error.retryAfter, at: clock.uptime) }
            throw UpstreamFailure(.throttled, error.detail, retryAfter: wait)
        }
    }

    private static func paused(_ wait: Duration) -> UpstreamFailure {
        UpstreamFailure(.throttled, "asked to wait before", retryAfter: wait)
    }

    // MARK: - Tries

    private func persist<Answer>(
        _ deadline: Instant, _ isIdempotent: Bool, _ secrets: [String],
        _ credential: @Sendable (String?) async throws -> String,
        _ request: @Sendable (String) throws -> OutboundRequest,
        _ read: @Sendable (OutboundResponse) throws -> UpstreamVerdict<Answer>
    ) async throws(UpstreamFailure) -> UpstreamVerdict<Answer> {
        var failures = 0
        var refused: String?
        var failure = UpstreamFailure(.unauthorized)
        while true {
            let present: String
            do {
                present = try await credential(refused)
            } catch {
                throw Self.failure(error)
            }
            // There is no other credential.
            if refused.isExactly(present) { throw failure }
            do throws(UpstreamFailure) {
                let verdict = try await attempt(
                    deadline, isIdempotent, secrets + [present], { try request(present) }, read)
                guard case .refused(let detail) = verdict, failures > 0, !isIdempotent else { return verdict }
                throw UpstreamFailure(.ambiguous, detail)
            } catch {
                failure = error
            }
            if failure.kind == .unauthorized, refused.isNil {
                // The credential may have aged at the server's clock; once, a new one is tried.
                refused = present
                continue
            }
            guard failure.isWorthAnotherTry || isIdempotent && failure.lostTheAnswer else { throw failure }
            failures += 1
            let delay = max(
                Self.backoff.delay(after: failures, randomness: host.randomness), failure.retryAfter ?? .zero)
            guard failures < Self.tries, delay <= Self.patience, clock.now + delay + Self.leastTime <= deadline else {
                throw failure
            }
            guard (try? await clock.sleep(for: delay)) != nil else {
                throw UpstreamFailure(.cancelled, "while waiting after \(failure)")
            }
        }
    }

    private func attempt<Answer>(
        _ deadline: Instant, _ isIdempotent: Bool, _ secrets: [String], _ make: () throws -> OutboundRequest,
        _ read: (OutboundResponse) throws -> UpstreamVerdict<Answer>
    ) async throws(UpstreamFailure) -> UpstreamVerdict<Answer> {
        let remaining = deadline - clock.now
        guard remaining >= Self.leastTime else {
            throw UpstreamFailure(.cancelled, "no time is left for a question")
        }
        var request: OutboundRequest
        do {
            request = try make()
        } catch {
            throw Self.failure(error)
        }
        // Where another try may help after a lost answer, time is left for it.
        request.timeLimit = min(Self.requestLimit, isIdempotent ? max(Self.leastTime, remaining / 2) : remaining)
        let pass: CircuitBreaker.Pass
        switch gate.breaker.begin() {
        case .refused(let wait): throw UpstreamFailure(.circuitOpen, retryAfter: wait)
        case .admitted(let admitted): pass = admitted
        }
        let result: Result<UpstreamVerdict<Answer>, UpstreamFailure>
        do throws(OutboundFailure) {
            let response = try await host.http.send(request)
            result = Result { try read(response) }
                .mapError { Self.failure($0).filled(from: response, at: clock.now).withoutEcho(of: secrets) }
        } catch {
            result = .failure(UpstreamFailure(error))
        }
        if let state = gate.breaker.end(pass, result.outcome) {
            host.meter.add(to: Self.circuitChanges, state.rawValue)
            host.logger.notice(
                "the circuit breaker of an upstream changed",
                metadata: ["upstream": "\(server)", "state": "\(state.rawValue)"])
        }
        switch result {
        case .success: isUnauthorized.withLock { $0 = false }
        case .failure(let failure) where failure.kind == .unauthorized: isUnauthorized.withLock { $0 = true }
        case .failure: break
        }
        let verdict = try result.get()
        guard case .refused(let detail) = verdict else { return verdict }
        return .refused(detail: detail?.withoutEcho(of: secrets))
    }

    /// The failure for an error that an author's closure threw: only its type if it is not ours, because the rest may
    /// contain a secret.
    private static func failure(_ error: any Error) -> UpstreamFailure {
        error as? UpstreamFailure ?? UpstreamFailure(.notSent, "\(type(of: error))")
    }
}

extension Result where Failure == UpstreamFailure {
    /// What an answer shows about the server.
    fileprivate var outcome: CircuitBreaker.Outcome {
        if case .failure(let failure) = self { failure.outcome } else { .success }
    }
}

extension UpstreamFailure {
    /// Whether evidence can be made so that the server answers like this.
    fileprivate var mayComeOfEvidence: Bool {
        switch kind {
        case .unauthorized, .requestRefused, .unexpectedStatus, .malformed, .tooLarge, .ambiguous: true
        default: false
        }
    }

    /// The same without its words, if they repeat a secret.
    fileprivate func withoutEcho(of secrets: [String]) -> UpstreamFailure {
        UpstreamFailure(kind, detail?.withoutEcho(of: secrets), retryAfter: retryAfter)
    }
}

extension String {
    /// Other words if the text repeats a secret.
    fileprivate func withoutEcho(of secrets: [String]) -> String {
        let words = secrets.flatMap { $0.split(onASCII: " ") }.filter { $0.utf8.count > 8 }
        return words.contains { utf8.contains($0.utf8.prefix(16)) } ? "it repeats the request" : self
    }
}
