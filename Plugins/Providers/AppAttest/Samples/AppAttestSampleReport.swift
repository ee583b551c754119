internal import AssayKit

/// What came of a sample, as it is written.
struct AppAttestSampleReport {
    enum Verdict {
        case verified
        case refused(AppAttestRefusal)
    }

    private let sample: AppAttestSample
    private let verdict: Verdict
    var environment: AppAttestEnvironment?
    var systemVersion: String?
    var systemBuild: String?
    var receipt: ReceiptOutcome?
    var counter: UInt32?
    var flags: UInt8?
    var bundleVersion: String?
    var validationCategory: ValidationCategory?

    init(_ sample: AppAttestSample, _ verdict: Verdict) {
        self.sample = sample
        self.verdict = verdict
    }

    var isVerified: Bool {
        if case .verified = verdict { true } else { false }
    }

    /// One JSON object; what is not known is null.
    var json: JSON {
        .object([
            "source": .string(sample.source), "kind": .string(sample.kind.rawValue),
            "verdict": isVerified ? "verified" : "refused", "reason": text(refusal?.reason.code),
            "detail": text(refusal?.detail), "environment": text(environment?.rawValue),
            "os_version": text(systemVersion), "os_build": text(systemBuild), "receipt": receiptJSON,
            "counter": number(counter), "flags": number(flags), "bundle_version": text(bundleVersion),
            "validation_category": number(validationCategory?.rawValue),
        ])
    }

    private var refusal: AppAttestRefusal? {
        if case .refused(let refusal) = verdict { refusal } else { nil }
    }

    private var receiptJSON: JSON {
        guard let receipt else { return nil }
        let (verdict, reason): (JSON, JSON) =
            switch receipt {
            case .verified: ("verified", nil)
            // Apple signed the content, though not in the way that the message claims.
            case .legacy2020: ("legacy-2020", "legacy-2020")
            case .refused(let refusal): ("refused", .string(refusal.reason.code))
            }
        return [
            "verdict": verdict, "reason": reason, "type": text(receipt.receipt?.kind.rawValue),
            "created": text(receipt.receipt?.created.description), "risk_metric": number(receipt.receipt?.riskMetric),
        ]
    }

    private func text(_ text: String?) -> JSON {
        text.map { .string($0) } ?? nil
    }

    private func number(_ number: (some BinaryInteger)?) -> JSON {
        number.map { .integer(Int64(clamping: $0)) } ?? nil
    }
}
