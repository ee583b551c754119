internal import AssayKit
internal import Logging

/// Writes one log line a decision.
struct DecisionLog: DecisionSink {
    private let logger: Logger

    init(_ logger: Logger) {
        self.logger = logger
    }

    func record(_ record: DecisionRecord) {
        var metadata: Logger.Metadata = [
            "decision": "\(record.decision)",
            "method": "\(SafeText.field(record.method))",
            "resource": "\(SafeText.field(record.resource))",
            "ms": "\(milliseconds(record.duration))",
        ]
        metadata["provider"] = record.provider.map { "\($0)" }
        metadata["caller"] = record.caller.map { "\($0)" }
        metadata["peer"] = record.peer.map { "\(SafeText.field($0))" }
        metadata["detail"] = record.detail.map { "\(SafeText.field($0))" }
        for fact in record.facts { metadata["fact.\(fact.name)"] = "\(SafeText.field("\(fact.value)"))" }
        if let use = record.tokenUse {
            metadata["service"] = use.service.map { "\($0)" }
            metadata["category"] = "\(use.category.rawValue)"
        }
        switch record.outcome {
        case .challenged:
            logger.info("challenge issued", metadata: metadata)
        case .issued(let tokenID, let limitedUse, let expires):
            metadata["jti"] = "\(SafeText.field(tokenID))"
            metadata["limited_use"] = "\(limitedUse)"
            metadata["expires"] = "\(expires)"
            logger.info("token issued", metadata: metadata)
        case .refused(let reason):
            metadata["reason"] = "\(reason)"
            logger.notice("evidence refused", metadata: metadata)
        case .answered:
            logger.info("call answered", metadata: metadata)
        case .rejected(let status):
            metadata["status"] = "\(status.rawValue)"
            logger.notice("request rejected", metadata: metadata)
        case .failed(let status):
            metadata["status"] = "\(status.rawValue)"
            logger.error("no decision", metadata: metadata)
        }
    }

    /// Milliseconds with three digits behind the point.
    private func milliseconds(_ duration: Duration) -> String {
        let duration = max(duration, .zero)
        let microseconds = duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
        let fraction = String(microseconds % 1000)
        return "\(microseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)"
    }
}
