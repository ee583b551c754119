internal import AssayCore
package import AssayKit
package import AssayPolicy
internal import AssayYAML
internal import Logging
internal import Synchronization

/// The entries of the deny list in the state store, as this server knows them: read again every two seconds, beside the requests
/// if ``run()`` runs, and by one of them otherwise.
///
/// An entry that was added on any server so takes effect on all of them within seconds. While the store cannot be read, the entries
/// that are known stay in force: without the store nobody can add others.
final class LiveDenials: Sendable {
    private struct State {
        var list: DenyList?
        /// The version of the document that the list was made from.
        var version: UInt64 = 0
        /// When the last reading began.
        var read: Duration?
        var isReading = false
        /// Whether the list is read beside the requests.
        var isRun = false
        var failure: String?
    }

    /// How old the known entries may be.
    static let interval = Duration.seconds(2)
    /// How long reading them may take.
    private static let timeLimit = Duration.seconds(1)
    /// How old they may be where they are read beside the requests, before one request reads them itself.
    private static let patience = Duration.seconds(10)

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
            let limit = state.isRun ? Self.patience : Self.interval
            let isFresh = state.read.map { uptime - $0 < limit } ?? false
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

    /// Reads the entries every two seconds, until the task is cancelled.
    func run() async {
        state.withLock { $0.isRun = true }
        while !Task.isCancelled {
            await refresh()
            guard (try? await host.clock.sleep(for: Self.interval)) != nil else { break }
        }
        state.withLock { $0.isRun = false }
    }

    /// Reads the entries now.
    func refresh() async {
        let uptime = host.clock.uptime
        let (known, version) = state.withLock { ($0.list, $0.version) }
        guard let known else {
            _ = try? await present(uptime: uptime)
            return
        }
        state.withLock { $0.isReading = true }
        _ = try? await update(known, version, uptime)
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
            let list = DenyList(entries, facts: facts)
            Self.report(list, logger)
            return (list, reading.version)
        }
    }

    /// Logs which entries cannot be judged.
    private static func report(_ list: DenyList, _ logger: Logger) {
        guard let caution = list.caution else { return }
        if list.unreadablePlaces.isEmpty { logger.warning("\(caution)") } else { logger.error("\(caution)") }
    }

    /// What operators should know of the list; nil when all of it is known and in force.
    var caution: String? {
        state.withLock { state in
            if let failure = state.failure {
                return
                    "the deny list cannot be read, and the entries that are known stay in force: \(SafeText.of(failure))"
            }
            return state.list?.caution
        }
    }

    private func note(_ list: DenyList, _ version: UInt64, at uptime: Duration) {
        let before = state.withLock { state in
            defer {
                // Of two readings at once, the later document counts.
                if version >= state.version || state.list == nil { (state.list, state.version) = (list, version) }
                (state.read, state.isReading, state.failure) = (uptime, false, nil)
            }
            return state.failure
        }
        if !before.isNil { host.logger.notice("the deny list can be read again") }
    }

    private func fail(_ error: any Error, at uptime: Duration) {
        let text = error is DeadlineExceeded ? "the state store did not answer within a second" : "\(error)"
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

extension DenyList {
    /// The list of the entries of a store.
    ///
    /// An entry whose content cannot be read blocks what it may be about: see ``unreadable(aboutEvidence:of:at:)``.
    ///
    /// - Parameter facts: the facts of each provider of the program.
    init(_ entries: [StoredDenials.Entry], facts: [ExactText: [FactName]]) {
        var policies: [DenyPolicy] = []
        var unreadable: [StoredDenials.Entry] = []
        for entry in entries {
            do throws(Diagnostics) {
                policies.append(try entry.policy())
            } catch {
                unreadable.append(entry)
            }
        }
        // A program with fewer plugins does not know the facts of all entries; it takes neither evidence nor tokens of such
        // providers.
        self.init(policies, facts: facts, isWhole: false, problems: DiagnosticSink())
        for entry in unreadable {
            let isAboutTokens = entry.match.members.map { $0.count == 1 && $0[0].name.isExactly("jti") } ?? false
            add(
                unreadable: entry.name, note: entry.note?.string, app: entry.app?.string,
                project: entry.project.string, until: entry.until, isAboutEvidence: !isAboutTokens)
        }
    }

    /// What operators should know of entries that cannot be judged; nil when there are none.
    var caution: String? {
        let places = unreadablePlaces
        if let first = places.first {
            return
                "the deny list has \(places.count) entries that cannot be read, which blocks the apps that they are about: "
                + "delete or replace them; the first is \(SafeText.of(first.string))"
        }
        return foreign.first.map { first in
            "the deny list has \(foreign.count) entries about facts that no provider of this program tells: they refuse "
                + "nothing here; the first is \(SafeText.of(first.string))"
        }
    }
}

/// The deny lists that a request is judged by: that of the policies, and that of the state store.
package struct Denials: Sendable {
    /// Why what an entry of the server refused cannot be judged by policies alone.
    package static let notInFiles = "the server's own deny list refused the evidence, and it is not in the policy files"

    private let lists: [(source: DenialSource, list: DenyList)]

    /// - Parameters:
    ///   - policies: the entries of the policies, which are asked first.
    ///   - server: the entries that administrators added.
    package init(policies: DenyList, server: DenyList) {
        let all: [(source: DenialSource, list: DenyList)] = [(.policies, policies), (.server, server)]
        lists = all.filter { !$0.list.isEmpty }
    }

    /// Whether entries name attesters, so that the tags of tokens matter.
    var namesAttesters: Bool { lists.contains { $0.list.namesAttesters } }

    /// Why an app's evidence, or its tokens, cannot be judged; nil when they can.
    func obstacle(aboutEvidence: Bool, of app: AppBinding, at now: Instant) -> String? {
        let found = first { $0.unreadable(aboutEvidence: aboutEvidence, of: app.identity, at: now) }
        return found.map { "an entry of the deny list cannot be read: \(SafeText.of($0.denial.place))" }
    }

    /// The first entry that a list answers with, and where it is.
    package func first(_ ask: (DenyList) -> Denial?) -> (denial: Denial, source: DenialSource)? {
        for (source, list) in lists {
            if let denial = ask(list) { return (denial, source) }
        }
        return nil
    }
}

extension RequestScope {
    /// What the deny lists say of a token of an app, by its `jti` and by the attester that it was issued for.
    func denial(ofToken id: String, app: AppBinding) -> TokenDenial {
        if let obstacle = denials.obstacle(aboutEvidence: false, of: app, at: now) { return .denied(obstacle) }
        if let found = denials.first({ $0.denial(ofToken: id, app: app.identity, at: now) }) {
            return .denied(found.denial.words)
        }
        guard denials.namesAttesters else { return .none }
        for tag in snapshot.keys.attesterTags(of: id) {
            if let found = denials.first({ $0.denial(of: tag, app: app.identity, at: now) }) {
                return .denied(found.denial.words)
            }
        }
        return .none
    }
}
