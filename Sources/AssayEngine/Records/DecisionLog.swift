internal import AssayCore
public import AssayKit
public import Logging

/// Writes one log line for each decision.
///
/// It is the default sink of an engine.
public struct DecisionLog: DecisionSink {
    private let logger: Logger

    /// - Parameter logger: receives the lines.
    public init(_ logger: Logger) {
        self.logger = logger
    }

    /// Writes the line of one decision.
    public func record(_ record: DecisionRecord) {
        let (level, message) = heading(of: record)
        guard level >= logger.logLevel else { return }
        var metadata: Logger.Metadata = [
            "decision": "\(record.decision)",
            "method": .stringConvertible(SafeText.field(record.method)),
            "resource": .stringConvertible(SafeText.field(record.resource)),
            "ms": .stringConvertible(record.duration.shortMilliseconds),
        ]
        metadata["provider"] = record.provider.map { "\($0)" }
        metadata["caller"] = record.caller.map { "\($0)" }
        metadata["peer"] = record.peer.map { .stringConvertible(SafeText.field($0)) }
        metadata["detail"] = record.detail.map { .stringConvertible(SafeText.field($0)) }
        for fact in record.facts {
            metadata["fact.\(fact.name)"] = .stringConvertible(SafeText.field("\(fact.value)"))
        }
        if let use = record.tokenUse {
            metadata["service"] = use.service.map { "\($0)" }
            metadata["category"] = "\(use.category.rawValue)"
            metadata["admitted"] = .stringConvertible(use.isAdmitted)
        }
        metadata["rule"] = record.rules.decided.map { "\($0)" }
        if !record.rules.wouldRefuse.isEmpty {
            metadata["would_refuse"] = .array(record.rules.wouldRefuse.prefix(16).map { "\($0)" })
        }
        metadata["unenforced_reason"] = record.unenforced.map { "\($0)" }
        if case .issued(let tokenID, let limitedUse, let expires) = record.outcome {
            metadata["jti"] = .stringConvertible(SafeText.field(tokenID))
            metadata["limited_use"] = .stringConvertible(limitedUse)
            metadata["expires"] = "\(expires)"
        }
        if case .refused(let reason) = record.outcome { metadata["reason"] = "\(reason)" }
        metadata["status"] = record.outcome.status.map { "\($0.rawValue)" }
        logger.log(level: level, message, metadata: metadata)
    }

    /// The level of a decision's line, and what it says.
    private func heading(of record: DecisionRecord) -> (Logger.Level, Logger.Message) {
        switch record.outcome {
        case .challenged: (.info, "challenge issued")
        case .issued: (.info, "token issued")
        case .refused(let reason): (.notice, isAboutEvidence(reason, record) ? "evidence refused" : "call refused")
        case .answered: (.info, "call answered")
        case .rejected: (.notice, "request rejected")
        case .failed: (.error, "no decision")
        }
    }

    /// Whether evidence was refused, and not a token, a consumer's request, or a call above a rate limit.
    private func isAboutEvidence(_ reason: Reason, _ record: DecisionRecord) -> Bool {
        if record.tokenUse != nil || record.facts.contains(where: { $0.name == .consumer }) { return false }
        return KernelReasons.challenges.contains(reason) || !KernelReasons.all.contains(reason)
    }

    /// One line for many decisions.
    public func record(_ summary: DecisionSummary) {
        let groups = summary.groups.prefix(16).map { group -> Logger.MetadataValue in
            let words = [group.method, group.outcome] + [group.cause, group.subject].compactMap(\.self)
            return "\(SafeText.of(words.map(\.string).joined(separator: " "))): \(group.count)"
        }
        logger.notice(
            "decisions summed",
            metadata: [
                "count": .stringConvertible(summary.total), "since": "\(summary.since)", "groups": .array(groups),
            ])
    }
}

extension Duration {
    /// The duration in milliseconds, with at most three decimals.
    package var shortMilliseconds: Double {
        (max(self, .zero) / .microseconds(1)).rounded() / 1000
    }
}
