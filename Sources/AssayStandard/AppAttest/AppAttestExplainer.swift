#if AppAttest
internal import AssayAppAttest
internal import AssayCommand
internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayPolicy

extension EvidenceExplainer {
    /// Explains captured evidence of App Attest as `assay verify app-attest --explain` explains a sample.
    static let appAttest = EvidenceExplainer(AppAttestProvider.descriptor.name) { evidence, app in
        guard let policy = app.providers.first(where: { $0.name.isExactly(evidence.provider) }) else {
            throw AppAttestExplanationError("the app has no provider \(evidence.provider) in these policies")
        }
        let configuration = try policy.section.decode(AppAttestConfiguration.self)
        var refusedCounter: UInt64?
        for answer in evidence.state {
            if case .advance(let value, false) = answer.operation { refusedCounter = value }
        }
        let sample = try AppAttestSamples.sample(
            evidence.body, at: evidence.time, app: app.identity, configuration, refusedCounter: refusedCounter
        ) { sealed in
            let digest = SHA256.hash(sealed)
            return evidence.opened.first { $0.digest == digest }?.content
        }
        let result = try AppAttestSamples(configuration).verify(sample, place: evidence.decision.text)
        return Explanation(isVerified: result.isVerified, text: result.explanation)
    }
}

/// Why captured evidence cannot be explained.
private struct AppAttestExplanationError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
#endif
