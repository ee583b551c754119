import AssayCore
import AssayKit

/// A provider whose evidence says which facts are true: what policies make of them is what is compared.
struct NotaryProvider: AttestationProvider {
    struct Configuration: DescribedConfiguration {
        /// A larger score is refused.
        let limit: Int64?

        static let keys: [ExactText: PolicyKey] = ["limit": "The largest score that is verified; any when absent."]
    }

    struct Evidence: RequestMessage {
        let facts: [Fact]

        init(_ fields: RequestFields) throws(InvalidRequest) {
            var facts: [Fact] = []
            if let serial = try fields.optionalString("serial") { facts.append(Fact(serialName, .text(serial))) }
            if let label = try fields.optionalString("label") { facts.append(Fact(labelName, .text(label))) }
            if let build = try fields.optionalString("build") { facts.append(Fact(buildName, .text(build))) }
            if let score = try fields.optionalString("score").flatMap({ Int64($0) }) {
                facts.append(Fact(scoreName, .integer(score)))
            }
            if try fields.bool("rooted") { facts.append(Fact(rootedName, .bool(true))) }
            self.facts = facts
        }

        var score: Int64? {
            for fact in facts {
                if case .integer(let score) = fact.value { return score }
            }
            return nil
        }
    }

    static let tooHigh = Reason("score_too_high", "The score is above the limit.")
    static let serialName = FactName("serial", .text, identifiesAttester: true)
    static let labelName = FactName("label", .text)
    static let buildName = FactName("build", .version)
    static let scoreName = FactName("score", .integer)
    static let rootedName = FactName("rooted", .bool)

    static let descriptor = PluginDescriptor(
        name: "notary", contract: 1, summary: "Takes the evidence's word.", reasons: [tooHigh],
        facts: [serialName, labelName, buildName, scoreName, rootedName])

    static let methods: [ProviderMethod<NotaryProvider>] = [
        .exchange("exchangeNote", resources: [.app, .oauthClient]) { (provider, request: Evidence, context) in
            if let limit = provider.limit, let score = request.score, score > limit {
                return .refused(tooHigh, facts: request.facts)
            }
            return .verified(Appraisal(facts: request.facts))
        }
    ]

    private let limit: Int64?

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
        limit = configuration.limit
    }
}

/// The same for development.
struct SketchProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    static let descriptor = PluginDescriptor(
        name: "sketch", contract: 1, summary: "For development.", reasons: [], facts: [NotaryProvider.labelName],
        isForDevelopment: true)

    static let methods: [ProviderMethod<SketchProvider>] = [
        .exchange("exchangeSketch", resources: [.app]) { (provider, request: NotaryProvider.Evidence, context) in
            .verified(Appraisal(facts: request.facts.filter { $0.name == NotaryProvider.labelName }))
        }
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
}
