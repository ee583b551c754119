import AssayCore
import AssayKit
import AssayPolicyTools

/// A provider whose evidence says which facts are true: what policies make of them is what is compared.
///
/// Its facts are of all types, and its settings of all shapes.
struct NotaryProvider: AttestationProvider {
    enum Grade: String, Decodable, Sendable, CaseIterable {
        case low, mid, high
    }

    struct Configuration: DescribedConfiguration {
        let limit: Int64?
        let labels: [String]?
        let grades: Set<Grade>?
        let patchedWithin: Duration?
        let once: Bool?

        enum CodingKeys: String, CodingKey {
            case limit, labels, grades
            case patchedWithin = "patched_within"
            case once
        }

        static let keys: [ExactText: PolicyKey] = [
            "limit": PolicyKey("The largest score that is verified; any when absent.", .range(0...8)),
            "labels": PolicyKey("The labels that are verified; all when absent.", .notEmpty),
            "grades": "The grades that are verified; all when absent.",
            "patched_within": PolicyKey(
                "How long ago the last patch may be; any time when absent.",
                .durations(.seconds(3600)...Duration.seconds(365 * 86_400))),
            "once": PolicyKey("Whether a serial is verified only once.", standard: false),
        ]
    }

    struct Evidence: RequestMessage {
        let facts: [Fact]

        init(_ fields: RequestFields) throws(InvalidRequest) {
            var facts: [Fact] = []
            for (name, _) in NotaryProvider.facts {
                guard let value = try Self.value(name, fields) else { continue }
                guard name.type.admits(value) else { throw InvalidRequest("the field '\(name.text)' is wrong") }
                facts.append(Fact(name, value))
            }
            self.facts = facts
        }

        private static func value(_ name: FactName, _ fields: RequestFields) throws(InvalidRequest) -> Fact.Value? {
            switch name.type {
            case .bool: return try fields.has(name.text) ? .bool(try fields.bool(name.text)) : nil
            case .integer: return try fields.optionalString(name.text).flatMap { Int64($0) }.map { .integer($0) }
            case .duration: return try fields.duration(name.text).map { .duration($0) }
            case .instant: return try fields.timestamp(name.text).map { .instant($0) }
            case .text, .words, .version, .digest:
                return try fields.optionalString(name.text).map { .text($0) }
            }
        }

        func value(_ name: FactName) -> Fact.Value? { facts.first { $0.name == name }?.value }
    }

    static let scoreTooHigh = Reason("score_too_high", "The score is above the limit.")
    static let labelUnknown = Reason("label_unknown", "The label is not one of the policy.")
    static let gradeUnknown = Reason("grade_unknown", "The grade is not one of the policy.")
    static let patchTooOld = Reason("patch_too_old", "The last patch is too long ago.")
    static let serialReused = Reason("serial_reused", "The serial was used before.")
    static let serial = FactName("serial", .text, identifiesAttester: true)
    static let label = FactName("label", .text)
    static let grade = FactName("grade", .words(["low", "mid", "high"]))
    static let score = FactName("score", .integer)
    static let patched = FactName("patched", .instant)
    static let labels = ["red", "grün", "a\u{301}", "\u{e1}"]

    /// The facts that it tells, each with values for policies and evidence.
    static let facts: [(FactName, [JSON])] = [
        (serial, ["s-one", "s-two", "Gerät"]),
        (label, labels.map { .string($0) }),
        (grade, ["low", "mid", "high"]),
        (FactName("build", .version), ["1.2", "1.2.0", "1.10", "2.0"]),
        (score, [0, 1, 3, 4, 8]),
        (FactName("rooted", .bool), [true, false]),
        (patched, ["2026-11-21T11:00:00Z", "2026-06-01T12:00:00Z", "2020-01-01T00:00:00Z"]),
        (FactName("idle", .duration), ["30m", "1h", "2d"]),
        (
            FactName("image", .digest),
            ["000102030405060708090a0b0c0d0e0f", "AAECAwQFBgcICQoLDA0ODw==", "000102030405060708090A0B0C0D0EFF"]
        ),
    ]

    static let descriptor = PluginDescriptor.provider(
        name: "notary", summary: "Takes the evidence's word.",
        reasons: [scoreTooHigh, labelUnknown, gradeUnknown, patchTooOld, serialReused],
        facts: facts.map(\.0))

    static let methods: [ProviderMethod<NotaryProvider>] = [
        .exchange("exchangeNote", resources: [.app, .oauthClient]) { (provider, request: Evidence, context) in
            provider.appraise(request, context)
        }
    ]

    private let settings: Configuration

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
        settings = configuration
    }

    private func appraise(_ evidence: Evidence, _ context: ProviderContext) -> Verdict {
        if let limit = settings.limit, case .integer(let score)? = evidence.value(Self.score), score > limit {
            return .refused(Self.scoreTooHigh, facts: evidence.facts)
        }
        if let labels = settings.labels, case .text(let label)? = evidence.value(Self.label),
            !labels.contains(exactly: label)
        {
            return .refused(Self.labelUnknown, facts: evidence.facts)
        }
        if let grades = settings.grades, case .text(let text)? = evidence.value(Self.grade),
            !grades.contains(where: { $0.rawValue == text })
        {
            return .refused(Self.gradeUnknown, facts: evidence.facts)
        }
        if let within = settings.patchedWithin, case .instant(let time)? = evidence.value(Self.patched),
            context.now - time > within
        {
            return .refused(Self.patchTooOld, facts: evidence.facts)
        }
        var appraisal = Appraisal(facts: evidence.facts)
        if settings.once == true, case .text(let serial)? = evidence.value(Self.serial) {
            appraisal.uses = [
                EvidenceUse(context.state.inserting(serial, expires: nil), otherwise: Self.serialReused)
            ]
        }
        return .verified(appraisal)
    }
}

/// The same for development.
struct SketchProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    static let descriptor = PluginDescriptor.provider(
        name: "sketch", summary: "For development.", reasons: [], facts: [NotaryProvider.label],
        isForDevelopment: true)

    static let methods: [ProviderMethod<SketchProvider>] = [
        .exchange("exchangeSketch", resources: [.app]) { (provider, request: NotaryProvider.Evidence, context) in
            .verified(Appraisal(facts: request.facts.filter { $0.name == NotaryProvider.label }))
        }
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
}

/// Makes the evidence of the notary for tests of policies with `device`.
struct NotarySimulator: EvidenceSimulator {
    let provider = "notary"
    let methods = ["exchangeNote"]
    let properties = NotaryProvider.facts.map { EvidenceProperty($0.0, "The same fact.") }
    let changes: [EvidenceChange] = []

    func begin(_ order: EvidenceOrder) -> EvidenceSession {
        let members = order.device.sorted { $0.key < $1.key }.map { name, value in
            JSONMember(name.string, Self.field(value))
        }
        return EvidenceSession(start: order.now) { _ in .object(members) }
    }

    /// The field of evidence that has a value.
    private static func field(_ value: Fact.Value) -> JSON {
        switch value {
        case .text(let text): .string(text)
        case .integer(let number): .string("\(number)")
        case .bool(let value): .bool(value)
        case .instant(let instant): .string("\(instant)")
        case .duration(let duration): .string("\(duration.components.seconds)s")
        }
    }
}
