internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import Logging
internal import Synchronization

/// Keeps a list of revoked certificates up to date: in memory for calls, in the state store for all servers of a service.
///
/// Instances of one list share a watch, also through changes of policies.
final class RevocationWatch: Sendable {
    enum Source: Sendable {
        case url(EndpointURL)
        case file(String)

        var isFile: Bool { if case .file = self { true } else { false } }

        var text: String {
            switch self {
            case .url(let url): url.text
            case .file(let path): path
            }
        }
    }

    /// A list, and how new it is.
    struct Current: Sendable {
        let list: RevocationList
        let head: Head
    }

    /// What the state store has of a list beside its parts.
    struct Head: Sendable {
        /// Names the content.
        var version: String
        /// The server's own name of it; empty for none.
        var tag: String
        var parts: Int
        /// When the server, or the file, last had this content.
        var confirmed: Instant
        /// From when on the server is asked again.
        var freshUntil: Instant
    }

    fileprivate struct State {
        var current: Current?
        /// When the store, or the file, was last looked at.
        var looked: Instant?
        /// Since when it is being looked at; nil when it is not.
        var lookingSince: Instant?
        /// Calls that wait for the first list.
        var waiting: [AsyncStream<Never>.Continuation] = []
        /// Why the last look, or the last question to the server, failed, and since when they do.
        var failure: (text: String, since: Instant)?
        /// Whether the store has the list.
        var isStored = false
        /// What the file looked like.
        var mark: RevocationFile.Mark?
    }

    /// How often the store is looked at for what another server has fetched, and a file for a change.
    private static let intervals = (store: Duration.seconds(60), file: Duration.seconds(10))
    /// How long after a failure the server is asked for the first list again: many calls may want it.
    private static let pause = Duration.seconds(5)
    /// A look that takes longer is given up: another one may begin.
    private static let lost = Duration.seconds(60)
    /// How long a server may fail to answer before that is a problem.
    private static let tolerance = Duration.seconds(3600)
    /// How long a list is fresh, whatever its server says; and if it says nothing.
    private static let freshness: ClosedRange<Duration> = .seconds(300) ... .seconds(86_400)
    private static let standardFreshness = Duration.seconds(3600)
    private static let partSize = 9 * 3000
    /// How long the server may take to answer; a call that waits for the first list has ten seconds.
    private static let patience = Duration.seconds(8)

    private let source: Source
    private let host: PluginHost
    private let space: StateSpace
    private let state = Mutex(State())

    init(_ source: Source, host: PluginHost) {
        self.source = source
        self.host = host
        space = host.space.subspace("revocation").subspace(Hex.encode(SHA256.hash(Array(source.text.utf8))))
    }

    /// The watch of a list, which all instances share.
    static func of(_ source: Source, host: PluginHost) -> RevocationWatch {
        host.sharedObject("revocation \(source.text)") { RevocationWatch(source, host: host) }
    }

    /// What an operator has to know; nil when all is well.
    func problem(at now: Instant, staleAfter: Duration) -> String? {
        // No call may come to look at a file that is missing, or there again.
        if source.isFile { lookIfDue(at: now) }
        let (current, failure, since) = state.withLock { ($0.current, $0.failure, $0.lookingSince) }
        let isStuck = since.map { now - $0 > Self.lost } ?? false
        let cause = failure?.text ?? (isStuck ? "\(source.text) does not answer" : nil)
        guard let current else {
            return cause.map { "there is no list of revoked certificates, so that nothing is decided: \($0)" }
        }
        let age = max(.zero, now - current.head.confirmed)
        if age > staleAfter {
            let why = cause.map { ": \($0)" } ?? ""
            return "the list of revoked certificates could not be renewed for \(age.wholeSeconds / 3600) hours\(why)"
        }
        // A server may fail for a while; a file that cannot be read was put there so.
        let lasts = failure.map { source.isFile || now - $0.since >= Self.tolerance } ?? isStuck
        guard lasts, let cause else { return nil }
        return "an older list of revoked certificates is used: \(cause)"
    }

    /// The list for one call: what is at hand, and a call waits for the first one alone.
    ///
    /// - Throws: `CallFailure` with `UNAVAILABLE` while there is none.
    func current(_ context: ProviderContext) async throws -> Current {
        lookIfDue(at: context.now)
        if let known = state.withLock({ $0.current }) { return known }
        await waitForFirst()
        let (known, failure) = state.withLock { ($0.current, $0.failure) }
        if let known { return known }
        throw CallFailure(
            .unavailable, "The list of revoked devices is not at hand.",
            detail: failure?.text ?? "it is being fetched", retryAfter: Self.pause)
    }

    /// Looks beside the calls when it is time, so that none of them waits for a file or a server.
    private func lookIfDue(at now: Instant) {
        let interval = source.isFile ? Self.intervals.file : Self.intervals.store
        let isDue = state.withLock { state in
            if let since = state.lookingSince, now - since <= Self.lost, now >= since { return false }
            let pause = state.current == nil ? Self.pause : interval
            if let looked = state.looked, now - looked < pause, now >= looked { return false }
            state.lookingSince = now
            return true
        }
        guard isDue else { return }
        // It ends by itself: a question has a limit of time, and a file is a regular one.
        Task.detached { [self] in await look(at: now) }
    }

    /// Waits for the look that fetches the first list; not at all when none runs.
    private func waitForFirst() async {
        let (ends, call) = AsyncStream.makeStream(of: Never.self)
        let mustWait = state.withLock { state in
            guard state.lookingSince != nil, state.current == nil else { return false }
            state.waiting.append(call)
            return true
        }
        if mustWait { for await _ in ends {} }
    }

    /// Brings the copy in memory up to date; a failure leaves the old one.
    private func look(at now: Instant) async {
        var failure: String?
        do {
            switch source {
            case .file(let path): try await read(path, now)
            case .url(let url):
                try await load()
                // The first server of a new service.
                if state.withLock({ $0.current == nil }) { _ = try await fetch(url, now) }
            }
        } catch {
            failure = "\(error)"
        }
        let waiting = state.withLock { state in
            (state.looked, state.lookingSince) = (now, nil)
            // Whether the server answers, only a question to it tells.
            if !failure.isNil || source.isFile || state.current == nil { state.note(failure, at: now) }
            defer { state.waiting = [] }
            return state.waiting
        }
        for call in waiting { call.finish() }
    }

    // MARK: - A server

    /// Fetches the list when it is due, and writes it to the store for all servers.
    func refresh(_ context: MaintenanceContext) async throws {
        let now = context.clock.now
        guard case .url(let url) = source else {
            await look(at: now)
            if let failure = state.withLock({ $0.failure }) { throw RevocationList.Malformed(failure.text) }
            return
        }
        try await load()
        let (known, isStored) = state.withLock { ($0.current, $0.isStored) }
        // A call may have fetched it, which writes nothing.
        if let known, now < known.head.freshUntil { return isStored ? () : try await store(known, replacing: nil) }
        let old = isStored ? known?.head : nil
        let fetched: Current
        do {
            fetched = try await fetch(url, now)
        } catch {
            state.withLock { $0.note("\(error)", at: now) }
            throw error
        }
        context.count(MaintenanceEvent(fetched.head.version.isExactly(old?.version ?? "") ? "unchanged" : "fetched"))
        try await store(fetched, replacing: old)
    }

    /// Asks the server.
    private func fetch(_ url: EndpointURL, _ now: Instant) async throws -> Current {
        let known = state.withLock { $0.current }
        var headers = [OutboundHeader("Accept", "application/json")]
        if let known, !known.head.tag.isEmpty { headers.append(OutboundHeader("If-None-Match", known.head.tag)) }
        let response = try await host.http.send(
            OutboundRequest(
                .get, url, headers: headers,
                timeLimit: Self.patience, responseLimit: RevocationList.byteLimit))
        let fresh = now + Self.freshness(of: response)
        let made: Current
        switch response.status {
        case 304:
            guard let known else {
                throw RevocationList.Malformed("the server says that nothing changed, and was not asked so")
            }
            var head = known.head
            (head.confirmed, head.freshUntil) = (now, fresh)
            made = Current(list: known.list, head: head)
        case 200:
            let list = try RevocationList(json: response.body)
            let tag = response.header("ETag") ?? ""
            made = Current(
                list: list,
                head: Head(
                    version: Hex.encode(SHA256.hash(list.encoded)), tag: tag.utf8.count <= 256 ? tag : "",
                    parts: (list.encoded.count + Self.partSize - 1) / Self.partSize, confirmed: now, freshUntil: fresh))
        default: throw RevocationList.Malformed("\(url.text) answers \(response.status)")
        }
        state.withLock { ($0.current, $0.failure) = (made, nil) }
        return made
    }

    /// By `Cache-Control: max-age`, less `Age` (RFC 9111, section 4.2).
    private static func freshness(of response: OutboundResponse) -> Duration {
        let directives = (response.header("Cache-Control") ?? "").split(onASCII: ",")
        let ages = directives.compactMap { directive -> Int64? in
            let text = directive.utf8.drop { $0 == UInt8(ascii: " ") }
            guard text.starts(with: "max-age=".utf8) else { return nil }
            return Int64(String(decoding: text.dropFirst(8).prefix(9), as: UTF8.self))
        }
        guard let most = ages.first, most >= 0 else { return standardFreshness }
        let age = response.header("Age").flatMap { Int64($0) } ?? 0
        return min(max(.seconds(most - min(max(age, 0), most)), freshness.lowerBound), freshness.upperBound)
    }

    // MARK: - The state store

    private func load() async throws {
        guard let bytes = try await space.get("head"), let head = Head(bytes) else { return }
        let known = state.withLock { $0.current }
        if let known, known.head.version.isExactly(head.version) {
            state.withLock { state in
                state.isStored = true
                if state.current?.head.confirmed ?? head.confirmed <= head.confirmed {
                    state.current = Current(list: known.list, head: head)
                }
            }
            return
        }
        var encoded: [UInt8] = []
        for part in 0..<head.parts {
            // Another server replaces the list just now: the next look finds the new one.
            guard let bytes = try await space.get(Self.name(part, of: head.version)) else { return }
            encoded += bytes
        }
        guard let list = RevocationList(encoded: encoded) else { return }
        state.withLock { ($0.current, $0.isStored) = (Current(list: list, head: head), true) }
    }

    private func store(_ made: Current, replacing old: Head?) async throws {
        let isNew = !(old?.version.isExactly(made.head.version) ?? false)
        if isNew {
            let encoded = made.list.encoded
            for part in 0..<made.head.parts {
                let bytes = encoded.dropFirst(part * Self.partSize).prefix(Self.partSize)
                try await space.put(Self.name(part, of: made.head.version), value: Array(bytes))
            }
        }
        try await space.put("head", value: made.head.encoded)
        state.withLock { $0.isStored = true }
        guard isNew, let old else { return }
        for part in 0..<old.parts { try await space.put(Self.name(part, of: old.version), value: nil) }
    }

    private static func name(_ part: Int, of version: String) -> String { "\(version)/\(part)" }

    // MARK: - A file

    private func read(_ path: String, _ now: Instant) async throws {
        let known = state.withLock { $0.mark }
        guard let file = try await host.blocking({ try RevocationFile.read(path, unlessAs: known) }) else { return }
        // A time in the future tells nothing of the age.
        let confirmed = min(file.changed, now)
        let head = Head(version: "", tag: "", parts: 0, confirmed: confirmed, freshUntil: confirmed)
        state.withLock { ($0.current, $0.mark) = (Current(list: file.list, head: head), file.mark) }
    }
}

extension RevocationWatch.State {
    /// Notes how a look, or a question, ended.
    fileprivate mutating func note(_ failure: String?, at now: Instant) {
        self.failure = failure.map { ($0, self.failure?.since ?? now) }
    }
}

extension RevocationWatch.Head {
    var encoded: [UInt8] {
        JSON.object([
            JSONMember("version", .string(version)), JSONMember("tag", .string(tag)),
            JSONMember("parts", .integer(Int64(parts))), JSONMember("confirmed", .integer(confirmed.milliseconds)),
            JSONMember("freshUntil", .integer(freshUntil.milliseconds)),
        ]).encoded
    }

    init?(_ bytes: [UInt8]) {
        guard let json = try? JSON.parse(bytes), let version = json["version"]?.string, let tag = json["tag"]?.string,
            let parts = json["parts"]?.integer, (0...1000).contains(parts), let confirmed = json["confirmed"]?.integer,
            let fresh = json["freshUntil"]?.integer
        else { return nil }
        self.init(
            version: version, tag: tag, parts: Int(parts), confirmed: Instant(milliseconds: confirmed),
            freshUntil: Instant(milliseconds: fresh))
    }
}
