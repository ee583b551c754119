internal import AssayKit
internal import Logging

/// Asks a vendor about a device token: within bounds and a deadline, again where that may help, and not at all while the
/// vendor's server is down.
struct UpstreamInquiry: Sendable {
    /// How long one request may take.
    private static let requestLimit = Duration.seconds(5)
    /// How often a question is put that fails for a moment only.
    private static let tries = 3
    /// Nobody waits longer than this for another try.
    private static let patience = Duration.seconds(2)
    private static let backoff = Backoff(first: .milliseconds(200), limit: .seconds(2))
    /// What is kept of the deadline to answer in.
    private static let reserve = Duration.milliseconds(250)

    let upstream: any DeviceTokenUpstream
    let gate: UpstreamGate
    let host: Host

    private var clock: HostClock { host.clock }

    func ask(_ question: DeviceQuestion, deadline: Instant) async -> DeviceAnswer {
        guard gate.enter() else { return counted(.undecided(UpstreamFailure(.crowded, retryAfter: .seconds(1)))) }
        defer { gate.leave() }
        return counted(await persist(question, deadline: deadline - Self.reserve))
    }

    private func persist(_ question: DeviceQuestion, deadline: Instant) async -> DeviceAnswer {
        var failures = 0
        var refused: String?
        while true {
            let credential: String
            do {
                credential = try upstream.credential(at: clock.now, insteadOf: refused)
            } catch {
                return .undecided(UpstreamFailure(.notSent, "\(error)"))
            }
            let answer = await attempt(question, credential, deadline)
            guard case .undecided(let failure) = answer else { return answer }
            if failure.kind == .unauthorized, refused == nil {
                // The credential may have aged at the vendor's clock; once, a fresh one is tried.
                refused = credential
                continue
            }
            guard failure.isWorthAnotherTry else { return answer }
            failures += 1
            let delay = max(
                Self.backoff.delay(after: failures, randomness: host.randomness), failure.retryAfter ?? .zero)
            guard failures < Self.tries, delay <= Self.patience, clock.now + delay < deadline else { return answer }
            guard (try? await clock.sleep(for: delay)) != nil else {
                return .undecided(UpstreamFailure(.cancelled, "while waiting after \(failure)"))
            }
        }
    }

    private func attempt(_ question: DeviceQuestion, _ credential: String, _ deadline: Instant) async -> DeviceAnswer {
        let remaining = deadline - clock.now
        guard remaining > .zero else { return .undecided(UpstreamFailure(.timedOut, "no time is left")) }
        var request: OutboundRequest
        do {
            request = try upstream.request(question, credential: credential, at: clock.now)
        } catch {
            return .undecided(UpstreamFailure(.notSent, "\(error)"))
        }
        request.timeLimit = min(Self.requestLimit, remaining)
        let pass: CircuitBreaker.Pass
        switch gate.breaker.begin() {
        case .refused(let wait): return .undecided(UpstreamFailure(.circuitOpen, retryAfter: wait))
        case .admitted(let admitted): pass = admitted
        }
        let answer: DeviceAnswer
        do throws(OutboundFailure) {
            answer = upstream.read(try await host.http.send(request), to: question, at: clock.now)
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

    private func counted(_ answer: DeviceAnswer) -> DeviceAnswer {
        switch answer {
        case .genuine: host.meter.add(to: DeviceTokenMetrics.answers, "genuine")
        case .refused: host.meter.add(to: DeviceTokenMetrics.answers, "refused")
        case .undecided(let failure): host.meter.add(to: DeviceTokenMetrics.answers, failure.kind.rawValue)
        }
        return answer
    }
}
