internal import AssayCore
internal import AssayKit
internal import Logging
internal import Synchronization

/// Asks a vendor about device tokens, for one app: within limits and a deadline, again if that may help, and not at all
/// while the vendor's server is down or asks clients to wait.
final class UpstreamInquiry: Sendable {
    /// How long one request may take, and the least that one is begun with.
    private static let requestLimit = Duration.seconds(5)
    private static let leastTime = Duration.seconds(1)
    /// How often a question is put that fails for a moment only.
    private static let tries = 3
    /// The most requests for one question: each try, and once more with a fresh credential.
    static let requestsPerQuestion = tries + 1
    /// The longest wait for another try.
    private static let patience = Duration.seconds(2)
    private static let backoff = Backoff(first: .milliseconds(200), limit: .seconds(2))
    /// The part of the deadline that is kept for the answer.
    private static let reserve = Duration.milliseconds(250)
    /// The longest wait for a place.
    private static let placePatience = Duration.seconds(2)

    private let upstream: any DeviceTokenUpstream
    private let gate: UpstreamGate
    private let host: PluginHost
    private let pause = Mutex(ThrottlePause())

    init(upstream: any DeviceTokenUpstream, gate: UpstreamGate, host: PluginHost) {
        self.upstream = upstream
        self.gate = gate
        self.host = host
    }

    private var clock: HostClock { host.clock }

    func ask(_ question: DeviceQuestion, for asker: Asker, deadline: Instant) async -> DeviceAnswer {
        let answer = await admit(question, for: asker, deadline: deadline - Self.reserve)
        switch answer {
        case .genuine: host.meter.add(to: DeviceTokenMetrics.answers, "genuine")
        case .refused: host.meter.add(to: DeviceTokenMetrics.answers, "refused")
        case .undecided(let failure): host.meter.add(to: DeviceTokenMetrics.answers, failure.kind.rawValue)
        }
        return answer
    }

    // MARK: - Bounds

    /// Asks when there is a place, and the vendor does not ask clients to wait.
    private func admit(_ question: DeviceQuestion, for asker: Asker, deadline: Instant) async -> DeviceAnswer {
        // A request that would not be allowed afterwards does not wait for a place.
        if let wait = pause.withLock({ $0.wait(asker.standing, at: clock.uptime) }) { return Self.paused(wait) }
        let (app, places) = (ObjectIdentifier(self), gate.places)
        let patience = min(Self.placePatience, deadline - clock.now - Self.leastTime)
        guard await places.enter(app, asker, patience: patience, clock: clock) else {
            return .undecided(UpstreamFailure(.crowded, retryAfter: .seconds(1)))
        }
        defer { places.leave(app, asker.peer) }
        let pass: ThrottlePause.Pass
        switch pause.withLock({ $0.begin(asker.standing, at: clock.uptime) }) {
        case .refused(let wait): return Self.paused(wait)
        case .admitted(let admitted): pass = admitted
        }
        let answer = await persist(question, deadline: deadline)
        switch answer {
        case .genuine, .refused: pause.withLock { $0.ended(pass, isAnswered: true) }
        case .undecided(let failure) where failure.kind == .throttled:
            let wish = failure.retryAfter
            let wait = pause.withLock { $0.throttled(pass, retryAfter: wish, at: clock.uptime) }
            return .undecided(UpstreamFailure(.throttled, failure.detail, retryAfter: wait))
        case .undecided: pause.withLock { $0.ended(pass, isAnswered: false) }
        }
        return answer
    }

    private static func paused(_ wait: Duration) -> DeviceAnswer {
        .undecided(UpstreamFailure(.throttled, "asked to wait before", retryAfter: wait))
    }

    // MARK: - Tries

    private func persist(_ question: DeviceQuestion, deadline: Instant) async -> DeviceAnswer {
        var failures = 0
        var refused: String?
        while true {
            let credential: String
            do {
                credential = try await upstream.credential(at: clock.now, insteadOf: refused)
            } catch {
                return .undecided(Self.failure(error))
            }
            // There is no other credential.
            if refused.isExactly(credential) { return .undecided(UpstreamFailure(.unauthorized)) }
            let answer = await attempt(question, credential, deadline)
            let failure: UpstreamFailure
            switch answer {
            case .genuine: return answer
            case .refused(let detail):
                return failures == 0 ? answer : .undecided(UpstreamFailure(.ambiguous, detail))
            case .undecided(let found): failure = found
            }
            if failure.kind == .unauthorized, refused.isNil {
                // The credential may have aged at the vendor's clock; once, a fresh one is tried.
                refused = credential
                continue
            }
            guard failure.isWorthAnotherTry else { return answer }
            failures += 1
            let delay = max(
                Self.backoff.delay(after: failures, randomness: host.randomness), failure.retryAfter ?? .zero)
            guard failures < Self.tries, delay <= Self.patience, clock.now + delay + Self.leastTime <= deadline else {
                return answer
            }
            guard (try? await clock.sleep(for: delay)) != nil else {
                return .undecided(UpstreamFailure(.cancelled, "while waiting after \(failure)"))
            }
        }
    }

    private func attempt(_ question: DeviceQuestion, _ credential: String, _ deadline: Instant) async -> DeviceAnswer {
        let remaining = deadline - clock.now
        guard remaining >= Self.leastTime else {
            return .undecided(UpstreamFailure(.cancelled, "no time is left for a question"))
        }
        var request: OutboundRequest
        do {
            request = try upstream.request(question, credential: credential, at: clock.now)
        } catch {
            return .undecided(Self.failure(error))
        }
        request.timeLimit = min(Self.requestLimit, remaining)
        let pass: CircuitBreaker.Pass
        switch gate.breaker.begin() {
        case .refused(let wait): return .undecided(UpstreamFailure(.circuitOpen, retryAfter: wait))
        case .admitted(let admitted): pass = admitted
        }
        let answer: DeviceAnswer
        do throws(OutboundFailure) {
            let response = try await host.http.send(request)
            answer = upstream.read(response, to: question, at: clock.now)
                .withoutEcho(of: [question.deviceToken, credential])
        } catch {
            answer = .undecided(UpstreamFailure(error))
        }
        var outcome = CircuitBreaker.Outcome.success
        if case .undecided(let failure) = answer { outcome = failure.outcome }
        if let state = gate.breaker.end(pass, outcome) {
            host.meter.add(to: DeviceTokenMetrics.circuitChanges, state.rawValue)
            host.logger.notice(
                "the circuit breaker of a device token upstream changed",
                metadata: ["upstream": "\(upstream.server)", "state": "\(state.rawValue)"])
        }
        return answer
    }

    /// The failure for an error that an upstream threw: only its type if it is not ours, because the rest may contain a
    /// secret.
    private static func failure(_ error: any Error) -> UpstreamFailure {
        error as? UpstreamFailure ?? UpstreamFailure(.notSent, "\(type(of: error))")
    }
}

extension DeviceAnswer {
    /// The same without its words, if they repeat a secret.
    fileprivate func withoutEcho(of secrets: [String]) -> DeviceAnswer {
        func clean(_ text: String?) -> String? {
            text.flatMap { text in
                let words = secrets.flatMap { $0.split(onASCII: " ") }.filter { $0.utf8.count > 8 }
                return words.contains { text.utf8.contains($0.utf8.prefix(16)) } ? "it repeats the request" : text
            }
        }
        return switch self {
        case .genuine: self
        case .refused(let detail): .refused(detail: clean(detail))
        case .undecided(let failure):
            .undecided(UpstreamFailure(failure.kind, clean(failure.detail), retryAfter: failure.retryAfter))
        }
    }
}
