internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import Foundation
internal import Logging
internal import Synchronization

/// Keeps a list of revoked certificates up to date: in memory for calls, in the state store for all servers of a service.
///
/// Instances of one list share a watch, also through changes of policies.
final class RevocationWatch: Sendable {
    enum Source: Sendable {
        case url(EndpointURL)
        case file(String)

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

    private struct State {
        var current: Current?
        /// When the store, or the file, was last looked at.
        var looked: Instant?
        var isLooking = false
        /// Calls that wait for the first list.
        var waiting: [AsyncStream<Never>.Continuation] = []
        /// Why the last look failed.
        var failure: String?
    }

    private static let interval = Duration.seconds(60)
    /// How long a list is fresh, whatever its server says; and if it says nothing.
    private static let freshness: ClosedRange<Duration> = .seconds(300) ... .seconds(86_400)
    private static let standardFreshness = Duration.seconds(3600)
    private static let partSize = 9 * 3000
    private static let patience = Duration.seconds(10)
    /// What a call keeps of its time for the rest of its work.
    private static let reserve = Duration.seconds(1)

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

    /// The age of the list; nil while there is none.
    func age(at now: Instant) -> Duration? {
        state.withLock { state in state.current.map { max(.zero, now - $0.head.confirmed) } }
    }

    /// The list for one call.
    ///
    /// - Throws: `CallFailure` with `UNAVAILABLE` while there is none; what the state store throws.
    func current(_ context: ProviderContext) async throws -> Current {
        let mayLook = state.withLock { state in
            let isDue = state.looked.map { context.now - $0 >= Self.interval || context.now < $0 } ?? true
            guard isDue, !state.isLooking else { return false }
            state.isLooking = true
            return true
        }
        if mayLook {
            await look(at: context.now, within: context.timeLeft)
            let waiting = state.withLock { state in
                state.isLooking = false
                defer { state.waiting = [] }
                return state.waiting
            }
            for call in waiting { call.finish() }
        } else {
            await waitForFirst()
        }
        let (known, failure) = state.withLock { ($0.current, $0.failure) }
        if let known { return known }
        throw CallFailure(
            .unavailable, "The list of revoked devices is not at hand.", detail: failure ?? "it is being fetched",
            retryAfter: .seconds(5))
    }

    /// Waits for another call that fetches the first list; not at all when there is a list.
    private func waitForFirst() async {
        let (ends, call) = AsyncStream.makeStream(of: Never.self)
        let mustWait = state.withLock { state in
            guard state.isLooking, state.current == nil else { return false }
            state.waiting.append(call)
            return true
        }
        if mustWait { for await _ in ends {} }
    }

    /// Brings the copy in memory up to date; a failure leaves the old one.
    private func look(at now: Instant, within time: Duration) async {
        do {
            switch source {
            case .file(let path): try await read(path)
            case .url(let url):
                try await load()
                // The first server of a new service.
                if state.withLock({ $0.current == nil }) { _ = try await fetch(url, now, within: time) }
            }
            state.withLock { ($0.looked, $0.failure) = (now, nil) }
        } catch {
            state.withLock { state in
                // A list that is at hand is used on; without one, the next call tries again.
                if state.current != nil { state.looked = now }
                state.failure = "\(error)"
            }
        }
    }

    // MARK: - A server

    /// Fetches the list when it is due, and writes it to the store for all servers.
    func refresh(_ context: MaintenanceContext) async throws {
        guard case .url(let url) = source else { return await look(at: context.clock.now, within: Self.patience) }
        try await load()
        let now = context.clock.now
        if let head = state.withLock({ $0.current?.head }), now < head.freshUntil { return }
        let old = state.withLock { $0.current?.head }
        let fetched = try await fetch(url, now, within: Self.patience)
        context.count(MaintenanceEvent(fetched.head.version.isExactly(old?.version ?? "") ? "unchanged" : "fetched"))
        try await store(fetched, replacing: old)
    }

    /// Asks the server.
    private func fetch(_ url: EndpointURL, _ now: Instant, within time: Duration) async throws -> Current {
        let known = state.withLock { $0.current }
        var headers = [OutboundHeader("Accept", "application/json")]
        if let known, !known.head.tag.isEmpty { headers.append(OutboundHeader("If-None-Match", known.head.tag)) }
        let response = try await host.http.send(
            OutboundRequest(
                .get, url, headers: headers,
                timeLimit: max(.milliseconds(100), min(Self.patience, time - Self.reserve)),
                responseLimit: RevocationList.byteLimit))
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
        state.withLock { $0.current = Current(list: list, head: head) }
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
        guard isNew, let old else { return }
        for part in 0..<old.parts { try await space.put(Self.name(part, of: old.version), value: nil) }
    }

    private static func name(_ part: Int, of version: String) -> String { "\(version)/\(part)" }

    // MARK: - A file

    private func read(_ path: String) async throws {
        let (bytes, changed) = try await host.blocking { () throws -> ([UInt8], Instant) in
            guard let handle = FileHandle(forReadingAtPath: path) else {
                throw RevocationList.Malformed("\(path) cannot be read")
            }
            defer { try? handle.close() }
            let data = try handle.read(upToCount: RevocationList.byteLimit + 1) ?? Data()
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            let date = attributes[.modificationDate] as? Date ?? Date(timeIntervalSince1970: 0)
            return (Array(data), Instant(seconds: Int64(date.timeIntervalSince1970)))
        }
        let version = Hex.encode(SHA256.hash(bytes))
        let known = state.withLock { $0.current }
        let list: RevocationList
        if let known, known.head.version.isExactly(version) {
            list = known.list
        } else {
            list = try RevocationList(json: bytes)
        }
        let head = Head(version: version, tag: "", parts: 0, confirmed: changed, freshUntil: changed)
        state.withLock { $0.current = Current(list: list, head: head) }
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
