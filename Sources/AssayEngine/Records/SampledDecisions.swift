public import AssayCore
public import AssayKit

/// Forwards decisions to a log or an audit file: all about which something was verified, and as many of the others as
/// `RecordLimits` allows.
///
/// The rest is summed, and each sum is forwarded as one `DecisionSummary`.
///
/// Sinks that count, such as metrics, are placed next to it and see every decision.
public final class SampledDecisions: DecisionSink {
    private typealias Events = SampledEvents<Kind>

    /// What decisions that are summed together have in common.
    private struct Kind: Hashable, Sendable {
        let method: ExactText
        let outcome: ExactText
        let cause: ExactText?
        let subject: ExactText?
    }

    private let sinks: DecisionSinks
    private let clock: HostClock
    private let isHeldBack: (@Sendable () -> Bool)?
    private let events: SampledEvents<Kind>

    /// Makes a sink in front of another one.
    ///
    /// - `isHeldBack`: true while records cannot be written: then all decisions about which nothing was verified are
    ///   summed, so that the queue has room for the others. The rates alone limit those of known callers.
    public init(
        _ sinks: [any DecisionSink], limits: RecordLimits = RecordLimits(), clock: HostClock = .system,
        isHeldBack: (@Sendable () -> Bool)? = nil
    ) {
        self.sinks = DecisionSinks(sinks)
        self.clock = clock
        self.isHeldBack = isHeldBack
        events = SampledEvents(limits)
    }

    /// Forwards a decision, or adds it to a sum.
    public func record(_ record: DecisionRecord) {
        if record.basis == .verified { return sinks.record(record) }
        let subject = record.basis == .known ? ExactText(record.caller ?? record.resource) : nil
        let uptime = clock.uptime
        let isAdmitted =
            (!record.caller.isNil || isHeldBack?() != true)
            && events.admits(subject.map { .known($0) } ?? .strangers, peer: record.peer, at: uptime)
        if isAdmitted {
            sinks.record(record)
        } else {
            let kind = Kind(
                method: ExactText(SafeText.of(record.method)), outcome: ExactText(record.outcome.name),
                cause: record.outcome.cause.map { ExactText($0) }, subject: subject)
            events.add(kind, now: clock.now, uptime: uptime)
        }
        pass(early: false)
    }

    /// Forwards a sum.
    public func record(_ summary: DecisionSummary) {
        sinks.record(summary)
    }

    /// Forwards a change of the service itself.
    public func record(_ event: AuditEvent) {
        sinks.record(event)
    }

    /// Forwards the sum when its interval is over.
    ///
    /// Call it regularly: otherwise the last of many requests would wait for the next one.
    public func flush() {
        pass(early: false)
    }

    /// Forwards the present sum.
    public func close() {
        pass(early: true)
    }

    private func pass(early: Bool) {
        guard let sum = events.take(now: clock.now, uptime: clock.uptime, early: early) else { return }
        let groups = sum.counts.map { kind, count in
            DecisionSummary.Group(
                method: kind.method, outcome: kind.outcome, cause: kind.cause, subject: kind.subject, count: count)
        }
        sinks.record(DecisionSummary(since: sum.since, until: sum.until, groups: groups, others: sum.others))
    }
}

extension DecisionRecord.Outcome {
    /// The outcome as audit records name it.
    package var name: String {
        switch self {
        case .challenged: "challenged"
        case .issued: "issued"
        case .answered: "answered"
        case .refused: "refused"
        case .rejected: "rejected"
        case .failed: "error"
        }
    }

    /// The canonical status of a failure; of a refusal only if it is another than the usual one.
    package var status: StatusCode? {
        switch self {
        case .challenged, .issued, .answered: nil
        case .refused(let reason): reason.status == .forbidden ? nil : reason.status.code
        case .rejected(let status), .failed(let status): status
        }
    }

    /// The reason's code or the canonical status.
    var cause: String? {
        switch self {
        case .challenged, .issued, .answered: nil
        case .refused(let reason): reason.code
        case .rejected(let status), .failed(let status): status.rawValue
        }
    }
}

/// Several sinks as one, for example a log, metrics and an audit file.
public struct DecisionSinks: DecisionSink {
    private let sinks: [any DecisionSink]

    /// - Parameter sinks: each gets every decision.
    public init(_ sinks: [any DecisionSink]) {
        self.sinks = sinks
    }

    /// Forwards a decision to all of them.
    public func record(_ record: DecisionRecord) {
        for sink in sinks { sink.record(record) }
    }

    /// Forwards a sum to all of them.
    public func record(_ summary: DecisionSummary) {
        for sink in sinks { sink.record(summary) }
    }

    /// Forwards a change of the service itself to all of them.
    public func record(_ event: AuditEvent) {
        for sink in sinks { sink.record(event) }
    }
}
