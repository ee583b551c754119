internal import AssayCore

/// Whether what a server can reload was reloaded when it last changed.
struct ReloadMetrics {
    private let meter: Meter

    static let succeeded = Metric.gauge(
        "last_reload_successful",
        "Whether the last attempt to reload something succeeded: 1 or 0. After a failure the previous state stays in force.",
        labels: [
            .init(
                "subject",
                [
                    "policies", "policy_bundle", "secret_files", "keys", "plugins", "tls_certificate",
                    "ext_authz_certificates",
                    "audit_file",
                ])
        ])

    init(_ meter: Meter, subjects: [ReloadSubject]) {
        self.meter = meter
        for subject in subjects { meter.set(1, of: ReloadMetrics.succeeded, label(subject.name)) }
    }

    func record(_ subject: String, _ outcome: ReloadOutcome) {
        meter.set(outcome == .failed ? 0 : 1, of: ReloadMetrics.succeeded, label(subject))
    }

    /// `TLS certificate` is `tls_certificate`.
    private func label(_ subject: String) -> String {
        String(
            decoding: subject.lowercasedASCII.utf8.map { $0 == UInt8(ascii: " ") ? UInt8(ascii: "_") : $0 },
            as: UTF8.self)
    }
}
