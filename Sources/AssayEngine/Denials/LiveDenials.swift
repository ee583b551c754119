internal import AssayCore
internal import AssayHosting
internal import AssayKit
internal import AssayPolicy
internal import AssayState
internal import AssayYAML
internal import Logging
internal import Synchronization

/// The entries of the deny list in the state store, as this server knows them: read again every two seconds while requests come.
///
/// An entry that was added on any server so takes effect on all of them within seconds. While the store cannot be read, the entries
/// that are known stay in force: without the store nobody can add others.
final class LiveDenials: Sendable {
    private struct State {
        var list: DenyList?
        /// The version of the document that the list was made from.
        var version: UInt64 = 0
        /// When the list was read; nil when it must be read again.
        var read: Duration?
        var isReading = false
        var failure: String?
    }

    /// How old the known entries may be.
    static let interval = Duration.seconds(2)
    /// How long reading them may take.
    private static let timeLimit = Duration.seconds(1)

    private let host: PluginHost
    private let facts: [ExactText: [FactName]]
    private let state = Mutex(State())
    /// Before the entries are known, one request reads them, and those that come meanwhile wait for it.
    private let firstReading = SharedWork<UInt64, DenyList>()

    /// - Parameter facts: the facts of each provider of the program.
    init(_ host: PluginHost, facts: [ExactText: [FactName]]) {
        self.host = host
        self.facts = facts
    }

    /// The entries in force.
    ///
    /// - Throws: the store's error, if they have never been read.
    nonisolated(nonsending) func present(uptime: Duration) async throws -> DenyList {
        enum Step {
            case known(DenyList)
            case read(DenyList, version: UInt64)
            case readFirst
        }
        let step = state.withLock { state -> Step in
            guard let list = state.list else { return .readFirst }
            let isFresh = state.read.map { uptime - $0 < Self.interval } ?? false
            // One request reads; the others go on with what is known.
            if isFresh || state.isReading { return .known(list) }
            state.isReading = true
            return .read(list, version: state.version)
        }
        switch step {
        case .known(let list): return list
        case .read(let known, let version):
            return (try? await update(known, version, uptime)) ?? known
        case .readFirst:
            return try await firstReading.value(for: 0) { [self] in try await update(nil, 0, uptime) }
        }
    }

    private func update(_ known: DenyList?, _ version: UInt64, _ uptime: Duration) async throws -> DenyList {
        do {
            let (list, version) = try await read(known, version)
            note(list, version, at: uptime)
            return list
        } catch {
            fail(error, at: uptime)
            throw error
        }
    }

    /// Reads the entries again for the next request, because they were changed here.
    func expire() {
        state.withLock { $0.read = nil }
    }

    /// Reads the document; the list is made again only from another version.
    private func read(_ known: DenyList?, _ version: UInt64) async throws -> (DenyList, UInt64) {
        let (store, facts, logger) = (host.store, facts, host.logger)
        return try await Deadline.run(Self.timeLimit, clock: host.clock) {
            let document = StoredDenials.document(in: store)
            let reading = try await document.read()
            if let known, reading.version == version { return (known, version) }
            let entries = try StoredDenials(decoding: reading.value, of: document).entries
            guard !entries.isEmpty else { return (DenyList(), reading.version) }
            let sink = DiagnosticSink()
            var policies: [DenyPolicy] = []
            for entry in entries {
                do throws(Diagnostics) {
                    policies.append(try entry.policy())
                } catch {
                    sink.report(error)
                }
            }
            // A program with fewer plugins does not know the facts of all entries; it does not issue tokens for them either.
            let list = DenyList(policies, facts: facts, isWhole: false, problems: sink)
            if let problems = sink.diagnostics, let first = problems.all.first {
                logger.warning(
                    "entries of the deny list cannot be judged, and refuse nothing",
                    metadata: [
                        "problems": .stringConvertible(problems.all.count + problems.omitted),
                        "first": "\(SafeText.of(first.message))",
                    ])
            }
            return (list, reading.version)
        }
    }

    private func note(_ list: DenyList, _ version: UInt64, at uptime: Duration) {
        let before = state.withLock { state in
            defer {
                (state.list, state.version, state.read, state.isReading, state.failure) = (
                    list, version, uptime, false, nil
                )
            }
            return state.failure
        }
        if !before.isNil { host.logger.notice("the deny list can be read again") }
    }

    private func fail(_ error: any Error, at uptime: Duration) {
        let text = "\(error)"
        let isNew = state.withLock { state in
            defer { (state.read, state.isReading, state.failure) = (uptime, false, text) }
            return state.failure.isNil
        }
        if isNew {
            host.logger.error(
                "the deny list cannot be read from the state: the entries that are known stay in force",
                metadata: ["error": "\(text)"])
        }
    }
}

/// The deny lists that a request is judged by: that of the policies, and that of the state store.
struct Denials: Sendable {
    /// Why what an entry of the server refused cannot be judged by policies alone.
    static let notInFiles = "the server's own deny list refused the evidence, and it is not in the policy files"

    private let lists: [(source: DenialSource, list: DenyList)]

    /// - Parameters:
    ///   - policies: the entries of the policies, which are asked first.
    ///   - server: the entries that administrators added.
    init(policies: DenyList, server: DenyList) {
        let all: [(source: DenialSource, list: DenyList)] = [(.policies, policies), (.server, server)]
        lists = all.filter { !$0.list.isEmpty }
    }

    /// Whether entries name attesters, so that the tags of tokens matter.
    var namesAttesters: Bool { lists.contains { $0.list.namesAttesters } }

    /// The first entry that a list answers with, and where it is.
    func first(_ ask: (DenyList) -> Denial?) -> (denial: Denial, source: DenialSource)? {
        for (source, list) in lists {
            if let denial = ask(list) { return (denial, source) }
        }
        return nil
    }
}

extension RequestScope {
    /// The entry that refuses verified evidence, and where it is; nil for none.
    func denial(
        of facts: [Fact], provider: String, app: AppBinding
    ) -> (denial: Denial, source: DenialSource)? {
        denials.first { $0.denial(of: facts, provider: provider, app: app.identity, at: now) }
    }

    /// The entry that refuses a token, by its `jti` or by the attester that it was issued for; nil for none.
    func denial(ofToken id: String, app: AppBinding) -> Denial? {
        if let found = denials.first({ $0.denial(ofToken: id, app: app.identity, at: now) }) { return found.denial }
        guard denials.namesAttesters else { return nil }
        for tag in snapshot.keys.attesterTags(of: id) {
            if let found = denials.first({ $0.denial(of: tag, app: app.identity, at: now) }) { return found.denial }
        }
        return nil
    }
}
