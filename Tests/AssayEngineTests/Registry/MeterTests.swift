import AssayCore
import AssayEngine
@testable import AssayServices
import AssayKit
import AssayPolicy
import Synchronization
import Testing

@Suite("Metrics of plugins")
struct MeterTests {
    @Test("A plugin's host has a meter that puts the plugin's name in front")
    func scoped() async throws {
        let seen = Mutex<[String]>([])
        let meter = Meter { scope, metric, change, labels in
            seen.withLock { $0.append("\(scope)\(metric.name) \(change) \(labels)") }
        }
        let engine = try Engine(
            registry: Registry([.provider(CountingProvider.self)]),
            policies: .load([
                PolicyFile(
                    name: "a.yaml",
                    text: "projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a', providers: {counting: {}}}]}]")
            ]),
            keys: .ephemeral(),
            host: PluginHost(store: MemoryStore(clock: .system), logger: TestService.silent, meter: meter))
        _ = await engine.handle(Call("exchangeCounting", resource: "projects/a/apps/1:1:ios:a"))
        let counted = seen.withLock { $0 }.filter { !$0.hasPrefix("clock_jumps_total add(0.0)") }
        #expect(counted == ["counting_questions_total add(1.0) [\"yes\"]"])
    }

    @Test("A declaration that is wrong is found when the plugin is registered, with the plugin's name")
    func wrong() {
        let error = #expect(throws: RegistryError.self) { try Registry([.provider(MiscountingProvider.self)]) }
        #expect(error?.message == "MiscountingProvider: the counter 'questions' must end in _total")
    }
}

private protocol Trivial: AttestationProvider where Configuration == NoConfiguration {}

private struct NoConfiguration: Decodable, Sendable {}

private struct NoFields: RequestMessage {
    init(_ fields: RequestFields) {}
}

private struct CountingProvider: Trivial {
    static let questions = Metric.counter(
        "questions_total", "Questions.", labels: [.init("answer", ["yes", "no"])])
    static let descriptor = PluginDescriptor.provider(
        name: "counting", summary: "Counts.", reasons: [], metrics: [questions])
    static let methods: [ProviderMethod<CountingProvider>] = [
        .exchange("exchangeCounting") { (provider, _: NoFields, _) in
            provider.meter.add(to: questions, "yes")
            return .verified
        }
    ]

    private let meter: Meter

    init(_ configuration: NoConfiguration, app: AppIdentity, host: PluginHost) {
        meter = host.meter
    }
}

private struct MiscountingProvider: Trivial {
    static let descriptor = PluginDescriptor.provider(
        name: "miscounting", summary: "Counts.", reasons: [],
        metrics: [.counter("questions", "Questions.")])
    static let methods: [ProviderMethod<MiscountingProvider>] = []

    init(_ configuration: NoConfiguration, app: AppIdentity, host: PluginHost) {}
}
