package import AssayCore

/// The metrics of all records: audit files, sinks, captured evidence.
package enum RecordMetrics {
    package static let all =
        [
            AuditMetrics.written, AuditMetrics.lost, AuditMetrics.summed, AuditMetrics.waiting, AuditMetrics.isWritable,
            AuditMetrics.sequence, AuditMetrics.interruptions,
            SinkMetrics.written, SinkMetrics.lost, SinkMetrics.failed, SinkMetrics.waiting,
        ] + EvidenceMetrics.all
}
