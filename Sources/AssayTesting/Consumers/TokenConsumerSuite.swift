internal import AssayEngine
public import AssayKit

/// What every `TokenConsumer` promises, as checks for the author of a consumer.
///
///     let suite = TokenConsumerSuite(VisitorPassConsumer.self, subject)
///     #expect(await suite.report(.quick).failures == [])
///
/// The author says what genuine clients ask (``ConsumerSubject``). A consumer may accept a changed request, since most of its
/// fields are wishes; so the checks with changed requests look for faults. The article *Conformance* lists the checks, and says what
/// the suite does not look at.
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
