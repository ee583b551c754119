import AssayCore
import AssayEngine
import AssayKit
import AssayTestSupport
import AssayTesting
import Logging
import Testing

@Suite("What plugins are given for one request")
struct ContextTests {
    private struct Platform: PlatformSection {
        static let name = "one"
        static let summary = "A platform."
        static let keys: [ExactText: PolicyKey] = [:]
        let value: Int
    }

    private struct OtherPlatform: PlatformSection {
        static let name = "other"
        static let summary = "Another platform."
        static let keys: [ExactText: PolicyKey] = [:]
        let value: Int
    }

    private let store = MemoryStore(clock: ManualClock().hostClock)

    private func app(_ platforms: [any PlatformSection] = []) -> AppIdentity {
        AppIdentity(
            resource: "projects/1/apps/a", kind: .app, project: ProjectIdentity(number: "1", id: "one"), subject: "a",
            platforms: platforms)
    }

    private func context(
        peer: String? = nil, appState: StateSpace? = nil, logger: Logger = Logger(label: "test"),
        wasVerified: @escaping @Sendable (PeerGroup) -> Bool = { _ in false }
    ) -> ProviderContext {
        ProviderContext(
            decision: DecisionID(text: "01DECISION"), app: app(), challenge: nil, deadline: Instant(seconds: 1),
            peer: peer, now: Instant(seconds: 0), state: StateSpace("own", in: store), appState: appState,
            pluginState: StateSpace("plugin", in: store),
            sealer: Sealer(seal: { $0.reversed() }, open: { $0.isEmpty ? nil : $0.reversed() }), logger: logger,
            wasVerified: wasVerified)
    }

    @Test("Every line that a provider logs carries the decision")
    func logging() {
        let log = RecordingLog()
        context(logger: log.logger).logger.info("hello", metadata: ["a": "1"])
        #expect(log.lines == ["hello a=1 decision=01DECISION"])
    }

    @Test("What all providers of an app share is the provider's own state where nothing else is given")
    func appState() async throws {
        try await context().appState.put("a", value: [1])
        #expect(try await store.get(StateKey("own", "a")) == [1])
        try await context(appState: StateSpace("shared", in: store)).appState.put("a", value: [2])
        #expect(try await store.get(StateKey("own", "a")) == [1])
        #expect(try await store.get(StateKey("shared", "a")) == [2])
    }

    @Test("Whether a peer was verified before is asked of its whole network, and only when a provider asks")
    func peers() {
        let known = PeerGroup("2001:db8::1")
        let context = context(peer: "2001:db8::2") { $0 == known }
        #expect(context.peerWasVerified)
        #expect(!self.context(peer: "192.0.2.1") { $0 == known }.peerWasVerified)
    }

    @Test("A sealer gives back what it sealed, and nothing for what is not its own")
    func sealer() throws {
        let sealer = context().sealer
        #expect(sealer.open(try sealer.seal([1, 2])) == [1, 2])
        #expect(sealer.open([]) == nil)
    }

    @Test("An app has the section of each platform by its type, and is another app with another section")
    func platforms() {
        let app = app([Platform(value: 1), OtherPlatform(value: 2)])
        #expect(app.platform(Platform.self)?.value == 1)
        #expect(app.platform(OtherPlatform.self)?.value == 2)
        #expect(self.app().platform(Platform.self) == nil)
        #expect(app == self.app().with([Platform(value: 1), OtherPlatform(value: 2)]))
        #expect(app != app.with([Platform(value: 2), OtherPlatform(value: 2)]))
        #expect(Set([app, app.with([Platform(value: 1), OtherPlatform(value: 2)]), self.app()]).count == 2)
    }

    @Test("What maintenance counts is summed by code, also by copies of its context")
    func counts() async {
        let context = MaintenanceContext(
            app: app(), clock: ManualClock().hostClock, deadline: Instant(seconds: 1),
            state: StateSpace("own", in: store), logger: Logger(label: "test"))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { [context] in context.count(MaintenanceEvent("exchanged")) } }
        }
        context.count(MaintenanceEvent("kept"))
        #expect(context.counts == [MaintenanceEvent("exchanged"): 100, MaintenanceEvent("kept"): 1])
        #expect(context.app == app() && context.project == app().project)
    }

    @Test("The maintenance of a consumer is about a project, and about no app")
    func consumerMaintenance() {
        let project = ProjectIdentity(number: "7", id: "seven")
        let context = MaintenanceContext(
            project: project, clock: ManualClock().hostClock, deadline: Instant(seconds: 1),
            state: StateSpace("own", in: store), logger: Logger(label: "test"))
        #expect(context.app == nil && context.project == project)
    }
}
