internal import AssayEngine
public import AssayKit

/// What every `TokenConsumer` promises, as checks for the author of a consumer.
///
///     let suite = TokenConsumerSuite(VisitorPassConsumer.self, subject)
///     #expect(await suite.report(.quick).failures == [])
///
/// The author says what genuine clients ask (``ConsumerSubject``). A consumer may accept a changed request, since most of its
/// fields are wishes; so the checks with changed requests look for faults. The checks, by name:
///
/// | check | rule |
/// |---|---|
/// | `descriptor` | the descriptor says everything that operators rely on |
/// | `genuine` | a genuine request is answered, each time |
/// | `missing-fields`, `field-types`, `truncation`, `bit-flips`, `oversize`, `hostile-text` | no request is a fault |
/// | `tokens` | a request without a good token gets nothing |
/// | `equal-verdicts` | equal requests get equal verdicts |
/// | `dead-upstream`, `slow-upstream`, `lying-upstream`, `huge-upstream` | without the other servers' word nothing is decided |
/// | `lost-store` | a lost state store is no reason to refuse |
/// | `cancellation` | a cancelled call ends, and harms no later one |
/// | `concurrency` | calls at the same time, while policies change, are answered as others |
/// | `configuration` | errors of the section are refused at their line |
/// | `documentation` | each key and each reason is described |
/// | `secrecy` | no message, record or log line has a secret |
/// | `contract` | no call broke the contract |
///
/// A plugin in a process of its own has one more, `restart`: a killed process is replaced, and the next one answers.
public struct TokenConsumerSuite<Consumer: TokenConsumer>: ConformanceSuite {
    private let checks: ConsumerChecks

    /// Makes the suite of a consumer.
    public init(_ type: Consumer.Type, _ subject: ConsumerSubject) {
        checks = ConsumerChecks(
            ConsumerChecks.Consumer(
                plugin: .consumer(type), descriptor: type.descriptor,
                isSelectedByToken: type.methods.contains { $0.selection == .tokenProject },
                section: type.Configuration.self), subject)
    }

    /// `consumer`.
    public var kind: PluginKind { checks.kind }
    /// The consumer's name in policies.
    public var name: String { checks.name }

    /// Runs all checks.
    public func report(_ effort: ConformanceEffort) async -> ConformanceReport { await checks.report(effort) }
}
