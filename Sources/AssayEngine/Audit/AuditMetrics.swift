internal import AssayKit

/// What an audit file tells a meter.
enum AuditMetrics {
    static let written = Metric.counter("audit_records_written_total", "Audit records written to the file.")
    static let lost = Metric.counter(
        "audit_records_lost_total", "Audit records that could not be written, and are lost.")
    static let summed = Metric.counter(
        "audit_records_summed_total", "Decisions that are in a sum of the audit file, and have no record of their own.")
    static let waiting = Metric.gauge("audit_records_waiting", "Audit records that wait to be written.")
    static let isWritable = Metric.gauge(
        "audit_writable", "Whether the last write to the audit file succeeded: 1 or 0.")
}
