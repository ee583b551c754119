#if Simulator
internal import AssayCommand
internal import AssayCore
internal import AssayEngine
internal import AssayVerifier

/// Writes one line a step, and remembers whether all ended as they should.
final class DemoReport {
    private var steps = 0
    private var failures = 0

    /// A step that must succeed; returns what it obtained.
    func step<Value>(
        _ title: String, status: Int = 200,
        _ action: () async throws -> (answer: DemoClient.Answer, summary: String, value: Value)
    ) async throws(OutputError) -> Value? {
        let start = ContinuousClock.now
        let result: (answer: DemoClient.Answer, summary: String, value: Value)
        do {
            result = try await action()
            guard result.answer.status == status else { throw DemoFailure("HTTP status \(result.answer.status)") }
        } catch {
            try line(false, title, "\(error)", "", start)
            return nil
        }
        try line(true, title, result.summary, result.answer.decision, start)
        return result.value
    }

    /// A step that must be refused for a certain reason, of which the client is told nothing.
    ///
    /// - Parameter message: all that it is told; nil where the reply has no body.
    func refused(
        _ title: String, _ code: String, status: Int, message: String?, reason: (String) -> Reason?,
        _ attempt: () async throws -> DemoClient.Answer
    ) async throws(OutputError) {
        let start = ContinuousClock.now
        let answer: DemoClient.Answer
        do {
            answer = try await attempt()
        } catch {
            try line(false, title, "\(error)", "", start)
            return
        }
        let found = reason(answer.decision)?.code ?? "no reason"
        let isOpaque =
            if let message {
                [answer.body["error"]?["message"], answer.body["error_description"]].contains(.string(message))
            } else {
                answer.body == [:]
            }
        let isGood = answer.status == status && found == code && isOpaque
        let summary = isGood ? "refused: \(code)" : "HTTP status \(answer.status), \(found) in place of \(code)"
        try line(isGood, title, summary, answer.decision, start)
    }

    /// A token that a relying party must accept.
    func verified(_ title: String, _ token: String, _ verifier: TokenVerifier) throws(OutputError) {
        let start = ContinuousClock.now
        let now = HostClock.system.now
        switch verifier.verify(token, DemoReport.expectation, now: now) {
        case .verified(let verified):
            let summary = "\(verified.subject), provider: \(verified.provider ?? "none")"
            try line(true, title, summary, DecisionID(now: now, randomness: .system).text, start)
        case .refused(let reason):
            try line(false, title, "refused: \(reason)", "", start)
        }
    }

    /// A token that a relying party must refuse, a while from now.
    func refused(
        _ title: String, _ token: String, _ verifier: TokenVerifier, _ code: String, after: Duration = .zero
    ) throws(OutputError) {
        let start = ContinuousClock.now
        let now = HostClock.system.now
        let outcome = verifier.verify(token, DemoReport.expectation, now: now + after)
        let found = if case .refused(let reason) = outcome { reason.code } else { "accepted" }
        try line(
            found == code, title, found == code ? "refused: \(code)" : "\(found) in place of \(code)",
            DecisionID(now: now, randomness: .system).text, start)
    }

    /// Writes the last line; returns whether all steps ended as they should.
    func end() throws(OutputError) -> Bool {
        let isGood = failures == 0
        try Terminal.say(
            "\n\(steps) steps, \(isGood ? "all ended as they should" : "\(failures) did not end as they should")")
        return isGood
    }

    private static let expectation = TokenVerifier.Expectation(
        issuer: DemoPolicy.issuer, audience: DemoPolicy.project)

    private func line(
        _ isGood: Bool, _ title: String, _ summary: String, _ decision: String, _ start: ContinuousClock.Instant
    ) throws(OutputError) {
        steps += 1
        if !isGood { failures += 1 }
        let tenths = (ContinuousClock.now - start) / .microseconds(100)
        let time = padded("\(Int(tenths) / 10).\(Int(tenths) % 10) ms", 9, left: true)
        let id = padded(decision.isEmpty ? "-" : decision, 26)
        try Terminal.say("\(isGood ? "  ok  " : "FAILED") \(time)  \(id)  \(padded(title, 48))  \(summary)")
    }

    private func padded(_ text: String, _ width: Int, left: Bool = false) -> String {
        let space = String(repeating: " ", count: max(0, width - text.count))
        return left ? space + text : text + space
    }
}
#endif
