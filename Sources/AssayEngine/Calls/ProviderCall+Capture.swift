internal import AssayCore
internal import AssayKit
internal import AssayPolicy

extension ProviderCall {
    /// What takes down what the provider learns of the state; nil if nobody asks for it.
    var tape: CallTape? {
        isCaptured || app.shadows[method.descriptor.name] != nil ? CallTape(method.provider.spaces) : nil
    }

    /// Whether evidence of the app may be captured.
    private var isCaptured: Bool {
        scope.evidenceSink != nil && scope.snapshot.policies.capture != nil && app.capture != .none
    }

    /// Has the evidence kept, if the policy captures this outcome.
    func capture(_ outcome: CallOutcome, challenge: [UInt8]?, _ tape: CallTape) {
        guard isCaptured, let sink = scope.evidenceSink, let capture = scope.snapshot.policies.capture else {
            return
        }
        let result: CapturedEvidence.Outcome
        switch outcome.outcome {
        case .refused(let reason): result = .refused(ExactText(reason.code))
        case .issued where app.capture == .all: result = .issued
        default: return
        }
        sink.add(of: app.name, peer: scope.call.peer, capture) {
            var evidence = CapturedEvidence(
                decision: scope.decision, time: scope.now, resource: app.identity.resource,
                provider: method.provider.descriptor.name, method: method.descriptor.name,
                version: scope.call.version, body: scope.call.body, challenge: challenge, outcome: result,
                detail: outcome.safeDetail(isAnswered: outcome.isAnswered), rule: outcome.rules.decided?.string,
                revision: "\(scope.snapshot.policies.revision)")
            evidence.denial = outcome.denial
            tape.complete(&evidence)
            return evidence
        }
    }
}
