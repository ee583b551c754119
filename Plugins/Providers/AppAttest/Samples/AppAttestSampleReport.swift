internal import AssayCore
internal import AssayKit

/// The result for a sample, as it is written.
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
    var systemFamily: String?
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

    /// One JSON object; unknown values are null.
    var json: JSON {
        .object([
            "source": .string(sample.source), "kind": .string(sample.kind.rawValue),
            "verdict": isVerified ? "verified" : "refused", "reason": text(refusal?.reason.code),
            "detail": text(refusal?.detail), "environment": text(environment?.rawValue),
            "os_family": text(Self.name(ofFamily: systemFamily)), "os_version": text(systemVersion),
            "os_build": text(systemBuild), "receipt": receiptJSON,
            "counter": number(counter), "flags": number(flags), "bundle_version": text(bundleVersion),
            "validation_category": number(validationCategory?.rawValue), "warnings": .array(warnings),
        ])
    }

    private var refusal: AppAttestRefusal? {
        if case .refused(let refusal) = verdict { refusal } else { nil }
    }

    /// Errors that do not decide the verdict: a refused receipt that is not required.
    private var warnings: [JSON] {
        guard isVerified, case .refused(let refusal)? = receipt else { return [] }
        return [
            [
                "reason": .string(refusal.reason.code), "detail": text(refusal.detail),
                "message": .string(
                    "The receipt is refused, and not needed for the verdict: \(refusal.reason.summary) "
                        + "Use --require-receipt to refuse the attestation for it."),
            ]
        ]
    }

    private static let familyNames: [ExactText: String] = ["iphoneos": "iOS", "macosx": "macOS"]

    /// The usual name of the system; unknown ones are shown unchanged.
    private static func name(ofFamily family: String?) -> String? {
        guard let family else { return nil }
        return familyNames[ExactText(family)] ?? family
    }

    /// The text for people: the verdict, and each check with the expected and the found value.
    func explanation(_ trace: AppAttestTrace, place: String) -> String {
        let kind = "\(place): \(sample.kind.rawValue) "
        var lines = [refusal.map { "\(kind)refused: \($0.reason.code). \($0.reason.summary)" } ?? kind + "verified"]
        for (index, step) in trace.steps.enumerated() {
            let outcome =
                switch step.outcome {
                case .passed: "passed     "
                case .failed: "FAILED     "
                case .notReached: "not reached"
                }
            let number = index + 1
            lines.append(
                "\(number < 10 ? " " : "")\(number)  \(outcome)  \(step.check.rawValue): \(step.check.summary)")
            if let expected = step.expected { lines.append("        expected  \(expected)") }
            if let found = step.found { lines.append("        found     \(found)") }
        }
        for case .object(let warning) in warnings {
            lines.append(warning.first { $0.name.isExactly("message") }?.value.string.map { "warning: \($0)" } ?? "")
        }
        return lines.joined(separator: "\n")
    }

    private var receiptJSON: JSON {
        guard let receipt else { return nil }
        let (verdict, reason, detail): (JSON, JSON, JSON) =
            switch receipt {
            case .verified: ("verified", nil, nil)
            // Apple signed the content, though not in the way that the message claims.
            case .legacy2020: ("legacy-2020", "legacy-2020", nil)
            case .refused(let refusal): ("refused", .string(refusal.reason.code), text(refusal.detail))
            }
        return [
            "verdict": verdict, "reason": reason, "detail": detail, "type": text(receipt.receipt?.kind.rawValue),
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
