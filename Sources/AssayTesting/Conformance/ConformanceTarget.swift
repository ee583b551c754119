internal import AssayCore
internal import AssayKit

/// One way into a plugin: a method, and how a genuine client calls it.
struct ConformanceTarget: Sendable {
    let name: String
    /// Makes the call of a genuine client; the number tells clients apart.
    let genuine: @Sendable (ConformanceHarness, TestApp, _ number: Int) async throws -> Call
    /// The same call for another app.
    let moved: @Sendable (Call, TestApp) -> Call
    /// Whether the reply to a genuine call is complete.
    let isGood: @Sendable (JSON) -> Bool
    /// Whether a request with a change in this field may be accepted.
    let mayChange: @Sendable (String) -> Bool
    /// Makes the call for another app, with that app's challenge and evidence of a device of the first app; nil for evidence
    /// without a challenge.
    var crossed: (@Sendable (ConformanceHarness, TestApp) async throws -> Call)?
    /// Makes the call of a genuine client whose clock is ahead; nil where clients have none.
    var early: (@Sendable (ConformanceHarness, _ number: Int, _ ahead: Duration) async throws -> Call)?
    /// Further genuine calls, by what is special.
    var variants: [(name: String, call: @Sendable (ConformanceHarness, _ number: Int) async throws -> Call)] = []
    /// Calls that must be refused.
    var adversaries: [Adversary: AdversaryCall] = [:]
    /// Whether the method has a challenge of the kernel.
    var hasChallenge = false
    /// How long evidence is good after it was made.
    var lifetime: Duration?
    /// How long used evidence must stay used; nil for ever.
    var remembered: Duration?
    /// Why the same request may be accepted more than once.
    var reuse: String?
    /// Why the request tells no time, so that it may be accepted again after the state was lost.
    var untimed: String?
    /// Why the request may be accepted for another app.
    var sharing: String?
}

/// The genuine clients of one check, and what they send.
struct ConformanceClient: Sendable {
    let bench: ConformanceHarness
    let target: ConformanceTarget
    let run: ConformanceRun

    /// Makes the call of a genuine client, as long as there is time for it.
    func genuine(_ number: Int = 0) async throws -> Call {
        try run.checkTime()
        return try await target.genuine(bench, .first, number)
    }

    func send(_ call: Call, ticking: Bool = false) async -> ConformanceHarness.Answer {
        await bench.call(call, ticking: ticking)
    }

    /// Sends a genuine call with another body.
    func send(_ call: Call, body: JSON) async -> ConformanceHarness.Answer {
        var call = call
        call.body = body
        return await bench.call(call)
    }

    /// Expects what a genuine call comes to.
    func accepts(_ answer: ConformanceHarness.Answer, _ what: String, _ run: ConformanceRun) {
        let isGood = answer.reply.map { target.isGood($0) } ?? false
        run.expect(isGood || answer.brokeContract, "\(target.name), \(what): \(answer.words)")
    }

    /// Expects a refusal that is no fault.
    ///
    /// - Parameter field: the field that was changed; nil for a change of something else.
    func refuses(_ answer: ConformanceHarness.Answer, _ what: String, _ field: String?, _ run: ConformanceRun) {
        if !answer.reply.isAbsent {
            run.expect(field.map { target.mayChange($0) } ?? false, "\(target.name) accepted \(what)")
        } else {
            run.expect(!answer.isFault || answer.brokeContract, "\(target.name), \(what): \(answer.words)")
        }
    }
}

extension Optional {
    var isAbsent: Bool { if case .none = self { true } else { false } }
}
