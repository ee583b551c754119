internal import AssayKit
internal import Logging
internal import Synchronization

/// Asks a vendor about device tokens, for one app: within bounds and a deadline, again where that may help, and not at all
/// while the vendor's server is down or asks to be left alone.
final class UpstreamInquiry: Sendable {
    /// How long one request may take, and the least that one is begun with.
    private static let requestLimit = Duration.seconds(5)
    private static let leastTime = Duration.seconds(1)
    /// How often a question is put that fails for a moment only.
    private static let tries = 3
    /// Nobody waits longer than this for another try.
    private static let patience = Duration.seconds(2)
    private static let backoff = Backoff(first: .milliseconds(200), limit: .seconds(2))
    /// What is kept of the deadline to answer in.
    private static let reserve = Duration.milliseconds(250)
    /// How many questions of one app may be on their way, so that it leaves places for the others.
    static let width = UpstreamGate.width / 2
    /// How long the vendor is left alone at most.
    private static let longestPause = Duration.seconds(3600)

    private struct State {
        var running = 0
        /// When, by the uptime, the vendor may be asked again.
        var pausedUntil = Duration.zero
    }

    private let upstream: any DeviceTokenUpstream
    private let gate: UpstreamGate
    private let host: Host
    private let state = Mutex(State())

    init(upstream: any DeviceTokenUpstream, gate: UpstreamGate, host: Host) {
        self.upstream = upstream
        self.gate = gate
        self.host = host
    }

    private var clock: HostClock { host.clock }

    func ask(_ question: DeviceQuestion, deadline: Instant) async -> DeviceAnswer {
        let answer: DeviceAnswer
        if let pause = enter() {
            answer = .undecided(pause)
        } else {
            answer = await persist(question, deadline: deadline - Self.reserve)
            leave()
        }
        switch answer {
        case .genuine: host.meter.add(to: DeviceTokenMetrics.answers, "genuine")
        case .refused: host.meter.add(to: DeviceTokenMetrics.answers, "refused")
        case .undecided(let failure): host.meter.add(to: DeviceTokenMetrics.answers, failure.kind.rawValue)
        }
        return answer
    }

    // MARK: - Bounds

    /// Takes a place; says why there is none.
    private func enter() -> UpstreamFailure? {
        let now = clock.uptime
        let failure = state.withLock { state -> UpstreamFailure? in
            if now < state.pausedUntil {
                return UpstreamFailure(.throttled, "asked to wait before", retryAfter: state.pausedUntil - now)
            }
            guard state.running < Self.width else { return UpstreamFailure(.crowded, retryAfter: .seconds(1)) }
            state.running += 1
            return nil
        }
        if let failure { return failure }
        if gate.enter() { return nil }
        state.withLock { $0.running -= 1 }
        return UpstreamFailure(.crowded, retryAfter: .seconds(1))
    }

    private func leave() {
        gate.leave()
        state.withLock { $0.running -= 1 }
    }

    /// Leaves the vendor alone for as long as it asks.
    private func pause(_ failure: UpstreamFailure) {
        guard failure.kind == .throttled, let wait = failure.retryAfter else { return }
        let end = clock.uptime + min(wait, Self.longestPause)
        state.withLock { $0.pausedUntil = max($0.pausedUntil, end) }
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
            // There is no other.
            if credential == refused { return .undecided(UpstreamFailure(.unauthorized)) }
            let answer = await attempt(question, credential, deadline)
            let failure: UpstreamFailure
            switch answer {
            case .genuine: return answer
            case .refused(let detail):
                return failures == 0 ? answer : .undecided(UpstreamFailure(.ambiguous, detail))
            case .undecided(let found): failure = found
            }
            if failure.kind == .unauthorized, refused == nil {
                // The credential may have aged at the vendor's clock; once, a fresh one is tried.
                refused = credential
                continue
            }
            pause(failure)
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

    /// What an upstream threw: its type alone where it is not ours, for nobody knows what else it says.
    private static func failure(_ error: any Error) -> UpstreamFailure {
        error as? UpstreamFailure ?? UpstreamFailure(.notSent, "\(type(of: error))")
    }
}

extension DeviceAnswer {
    /// The same without its words, if they repeat a secret.
    fileprivate func withoutEcho(of secrets: [String]) -> DeviceAnswer {
        func clean(_ text: String?) -> String? {
            text.flatMap { text in
                let words = secrets.flatMap { $0.split(separator: " ") }.filter { $0.utf8.count > 8 }
                return words.contains { text.contains($0.prefix(16)) } ? "it repeats what it was sent" : text
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
