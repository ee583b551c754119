internal import AssayCore
internal import AssayKit
internal import AssayPolicy
internal import Synchronization

/// What administrators have changed in the state: the deny list, and the levels of services.
///
/// One for each engine.
final class LiveState: Sendable {
    /// The levels of one project's services, and when a request last asked for them.
    private struct Levels {
        let document: LiveDocument<ProtectionState>
        var asked: Duration
    }

    /// How old what is known may be.
    static let interval = Duration.seconds(2)
    /// How old it may be where it is read beside the requests, before one request reads it itself.
    private static let patience = Duration.seconds(10)
    /// How long the levels of a project that nobody asks for are read beside the requests.
    private static let memory = Duration.seconds(60)

    private let host: PluginHost
    private let denyList: LiveDocument<DenyList>
    /// By the numbers of projects; only those with services that administrators may change.
    private let protection = Mutex<[ExactText: Levels]>([:])
    /// Whether all of it is read beside the requests.
    private let isRun = Atomic(false)

    /// - Parameters:
    ///   - facts: the facts of each provider of the program.
    ///   - publish: gets the deny list after each reading.
    init(
        _ host: PluginHost, facts: [ExactText: [FactName]],
        publish: @escaping @Sendable (LiveDocument<DenyList>.Known) -> Void
    ) {
        self.host = host
        denyList = .denials(host, facts: facts, publish: publish)
    }

    /// Whether what was published of the deny list need not be read again.
    func isPresent(_ denials: LiveDocument<DenyList>.Known?, uptime: Duration) -> Bool {
        denials?.isPresent(uptime: uptime, atMost: age) ?? false
    }

    /// The entries of the deny list in force.
    ///
    /// - Throws: the store's error, if they have never been read.
    nonisolated(nonsending) func denials(uptime: Duration) async throws -> DenyList {
        try await denyList.present(uptime: uptime, atMost: age)
    }

    /// What administrators have set for the services of a project.
    ///
    /// - Throws: the store's error, if it has never been read.
    nonisolated(nonsending) func protection(
        of project: ProjectIdentity, uptime: Duration
    ) async throws -> ProtectionState {
        try await document(of: project, uptime: uptime).present(uptime: uptime, atMost: age)
    }

    /// Reads the deny list now.
    func refreshDenials() async { await denyList.refresh() }

    /// Reads the levels of a project's services now.
    func refreshProtection(of project: ProjectIdentity) async {
        await document(of: project, uptime: host.clock.uptime).refresh()
    }

    /// Reads all of it every two seconds, until the task is cancelled.
    ///
    /// - Parameter look: called every half minute.
    func run(_ look: () async -> Void = {}) async {
        isRun.store(true, ordering: .relaxed)
        var rounds = 0
        while !Task.isCancelled {
            await denyList.refresh()
            if rounds % 15 == 0 { await look() }
            rounds &+= 1
            let uptime = host.clock.uptime
            let asked = protection.withLock { protection in
                protection = protection.filter { uptime - $0.value.asked < Self.memory }
                return protection.values.map(\.document)
            }
            for document in asked where !Task.isCancelled { await document.refresh() }
            guard (try? await host.clock.sleep(for: Self.interval)) != nil else { break }
        }
        isRun.store(false, ordering: .relaxed)
    }

    /// What operators should know of it; empty when all of it is known and in force.
    var cautions: [String] {
        let protection = protection.withLock { $0.values.map(\.document) }
        return [denyList.caution ?? denyList.known?.caution].compactMap(\.self)
            + protection.compactMap(\.caution).sortedExactly().prefix(1)
    }

    private var age: Duration { isRun.load(ordering: .relaxed) ? Self.patience : Self.interval }

    private func document(of project: ProjectIdentity, uptime: Duration) -> LiveDocument<ProtectionState> {
        protection.withLock { protection in
            let name = ExactText(project.number)
            let document = protection[name]?.document ?? .protection(of: project, host)
            protection[name] = Levels(document: document, asked: uptime)
            return document
        }
    }
}

extension LiveDocument<ProtectionState> {
    fileprivate static func protection(of project: ProjectIdentity, _ host: PluginHost) -> Self {
        let document = ProtectionState.document(of: project, in: host.store)
        return Self("the levels of services of projects/\(project.number)", document, host) {
            try ProtectionState(decoding: $0, of: document)
        }
    }
}
