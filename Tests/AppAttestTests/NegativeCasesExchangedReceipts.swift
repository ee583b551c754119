import AssayAppAttest
import AssayCore
import AssayCrypto
import AssayKit
import AssayTesting

/// Receipts that answer an exchange, good and bad.
extension NegativeCase<ExchangedReceiptScene> {
    static let all: [Self] = alone + riskMetrics

    private static let alone: [Self] =
        [
            .accepted("a risk metric of 3") { _ in },
            .accepted("a stored receipt, of any age") {
                $0.judged = Simulation.now + .seconds(80 * 86_400)
                $0.maximumAge = nil
            },
            .accepted("an attestation's receipt") {
                $0.template[.receiptType] = Array("ATTEST".utf8)
                $0.template[.riskMetric] = nil
            },
            .refused(Reasons.receiptFieldMissing, "no risk metric") { $0.template[.riskMetric] = nil },
            .refused(Reasons.receiptKeyMismatch, "another key") {
                $0.publicKey = try SimulatedKey(.p256, random: .seeded(99)).point
            },
            .refused(Reasons.receiptKeyMismatch, "a key that is no certificate") {
                $0.template[.certificate] = Array("key".utf8)
            },
            .refused(Reasons.receiptAppIDMismatch, "another App ID") { $0.appID = "ABCDE12345.com.example.other" },
            .refused(Reasons.receiptEnvironmentMismatch, "another environment") { $0.environment = .production },
            .refused(Reasons.receiptTooOld, "older than five minutes") {
                $0.judged = Simulation.now + .seconds(301)
            },
            .refused(Reasons.receiptFromFuture, "made tomorrow") { $0.judged = Simulation.now - .seconds(86_400) },
            .refused(Reasons.receiptExpired, "after 90 days") {
                $0.judged = Simulation.now + .seconds(91 * 86_400)
                $0.maximumAge = nil
            },
            .refused(Reasons.receiptFieldMalformed, "a time from which it can be exchanged, in words") {
                $0.template[.notBefore] = Array("tomorrow at half past ten".utf8)
            },
        ]

    private static let riskMetrics: [Self] = ["", "-1", "+1", "1.5", "01", "1 ", "one", "9999999999", "\u{663}"].map {
        metric in
        .refused(Reasons.receiptRiskMetricMalformed, "the risk metric '\(metric)'") {
            $0.template[.riskMetric] = Array(metric.utf8)
        }
    }
}
