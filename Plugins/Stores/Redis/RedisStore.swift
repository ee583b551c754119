public import AssayCore
public import AssayKit
internal import NIOCore
internal import Synchronization

/// A state store in Redis or Valkey, shared by servers on several machines.
///
/// - Each operation is one script and one round trip, and concurrent operations share round trips. In a cluster the
///   changes of one commit are one script where their keys are in one slot; otherwise they are made one after another.
/// - By default it refuses a server that may forget what it acknowledged; see the article of the module.
/// - Entries expire by the caller's clock. The server frees their memory later, by its own clock.
/// - Data that was lost or replaced while the store had it open is noticed, and nothing is decided upon it.
/// - A lost connection is replaced by a new one, without a restart. An operation whose effect is not known throws; it is not
///   repeated.
/// - Spaces and names have at most 1024 bytes of UTF-8, values at most 1 MiB, pages of a list at most 10 000 entries.
public final class RedisStore: StateStore {
    let connector: Connector
    let clock: HostClock
    private let servers: any Servers
    private let expiry: NativeExpiry
    private let timeLimit: TimeAmount
    private let work = Mutex<[Task<Void, Never>]>([])
    /// Spaces with listed entries that this store has touched: what a sweep visits.
    private let spaces = Mutex<Set<ExactText>>([])

    /// - Parameter margin: how long the server keeps an entry after its end.
    init(
        _ location: RedisLocation, clock: HostClock, margin: Duration = Limits.margin, secrets: SecretSource = .system
    ) async throws(RedisStoreError) {
        let connector = try Connector(location, identity: Identity(), secrets: secrets)
        self.connector = connector
        self.clock = clock
        expiry = NativeExpiry(margin: margin)
        timeLimit = connector.limit
        servers = try await Self.servers(connector)
        let servers = servers
        let ticking = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: Limits.tick)
                servers.expire()
            }
        }
        let caring = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: Limits.tick)
                await servers.care()
            }
        }
        work.withLock { $0 = [ticking, caring] }
    }

    deinit {
        servers.end()
        for task in work.withLock({ $0 }) { task.cancel() }
    }

    /// Finds out what kind of server it is, and verifies one connection.
    private static func servers(_ connector: Connector) async throws(RedisStoreError) -> any Servers {
        var last = RedisStoreError(.cannotConnect, "no server is named")
        for server in try await connector.masters() {
            do throws(RedisStoreError) {
                let connection = try await connector.open(server)
                defer { connection.close() }
                guard try await connector.facts(connection).isCluster else {
                    try await connector.session().connection.close()
                    return SingleServer(connector)
                }
                guard connector.location.database == 0 else {
                    throw RedisStoreError(.invalidLocation, "\(server): a cluster has the database 0 only")
                }
                return try await Cluster.open(connector)
            } catch {
                last = error
            }
        }
        throw last
    }

    // MARK: Operations

    /// Makes all of the changes, or none of them; in a cluster, those of several slots one after another.
    public func commit(_ changes: [StateChange]) async throws(RedisStoreError) -> Int? {
        try check(changes)
        let deadline = deadline
        guard servers.isCluster else { return try await makeTogether(changes, deadline) }
        for case .insert(let key, _, _, true) in changes { try await addToIndex(key, deadline) }
        let slots = Set(changes.map { HashSlot.of(self.key(of: $0)) })
        var refused: Int?
        if slots.count == 1 {
            refused = try await makeTogether(changes, deadline)
        } else {
            for (index, change) in changes.enumerated() where refused == nil {
                refused = try await makeTogether([change], deadline).map { _ in index }
            }
        }
        // A sweep may have removed the name before the entry was there.
        for case .insert(let key, _, _, true) in changes.prefix(refused ?? changes.count) {
            try await addToIndex(key, deadline)
        }
        return refused
    }

    private func makeTogether(_ changes: [StateChange], _ deadline: NIODeadline) async throws(RedisStoreError) -> Int? {
        let first = changes.first.map { self.key(of: $0) } ?? []
        var (keys, arguments) = begin(first)
        arguments.append(Digits.of(clock.now))
        for change in changes {
            let key = self.key(of: change)
            switch change {
            case .insert(let name, let value, let expires, let isListed):
                keys += [key, isListed && !servers.isCluster ? touch(name.space) : key]
                arguments += [
                    Array("e".utf8), Digits.of(expires), expiry.removal(expires), Array(name.name.utf8), value,
                ]
            case .advance(_, let value):
                keys += [key, key]
                arguments += [Array("c".utf8), Digits.of(value), [], [], []]
            }
        }
        let reply = try await call(
            .script(.commit, keys: keys, arguments: arguments), key: first, writes: true, deadline)
        guard let number = reply.number, number >= 0, number <= changes.count else { throw unexpected(reply) }
        return number == 0 ? nil : Int(number) - 1
    }

    /// The value of an entry that has not expired.
    public func get(_ key: StateKey) async throws(RedisStoreError) -> [UInt8]? {
        try check(key, [])
        let entry = try await entry(connector.keys.entry(key), deadline)
        return entry.flatMap { $0.isLive(at: clock.now) ? $0.value : nil }
    }

    func entry(_ key: [UInt8], _ deadline: NIODeadline) async throws(RedisStoreError) -> StoredEntry? {
        let (keys, arguments) = begin(key)
        let reply = try await call(
            .script(.get, keys: keys + [key], arguments: arguments), key: key, writes: false, deadline)
        return try entry(of: reply)
    }

    func entry(of reply: RedisReply) throws(RedisStoreError) -> StoredEntry? {
        if case .null = reply { return nil }
        guard let bytes = reply.bytes, let entry = StoredEntry(bytes) else { throw unexpected(reply) }
        return entry
    }

    /// Writes an entry, or replaces it; nil deletes it.
    public func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws(RedisStoreError) {
        try check(key, value ?? [])
        let (now, deadline) = (clock.now, deadline)
        // What is written expired is absent from the beginning.
        let value = expires.map { $0 > now } ?? true ? value : nil
        let entry = connector.keys.entry(key)
        if servers.isCluster, value != nil { try await addToIndex(key, deadline) }
        var (keys, arguments) = begin(entry)
        keys += [entry, servers.isCluster ? entry : touch(key.space)]
        arguments += [
            value == nil ? [] : Digits.of(expires), expiry.removal(expires), expiry.least(expires, now: now),
            Array(key.name.utf8), value ?? [],
        ]
        let reply = try await call(.script(.put, keys: keys, arguments: arguments), key: entry, writes: true, deadline)
        guard reply.number == 0 else { throw unexpected(reply) }
        if servers.isCluster, value != nil { try await addToIndex(key, deadline) }
    }

    /// The entries of a space in the order of their names, after a name, up to a limit.
    public func list(
        _ space: String, after name: String?, limit: Int
    ) async throws(RedisStoreError) -> [StateEntry] {
        try check(StateKey(space, name ?? ""), [])
        guard limit > 0 else { return [] }
        guard limit <= Limits.listedEntries else {
            throw RedisStoreError(.tooLarge, "a page of \(limit) entries; at most \(Limits.listedEntries)")
        }
        _ = touch(space)
        let now = clock.now
        var found: [StateEntry] = []
        var last = name.map { Array($0.utf8) }
        while found.count < limit {
            let page = try await page(space, after: last, count: min(limit, Limits.page), readsValues: true)
            for (name, entry) in page.entries {
                last = name
                guard let entry, entry.isLive(at: now), found.count < limit else { continue }
                found.append(
                    StateEntry(name: String(decoding: name, as: UTF8.self), value: entry.value, expires: entry.expires))
            }
            if page.isLast { break }
        }
        return found
    }

    /// That the data was lost or replaced, as far as a connection or an operation has found out.
    public var blockingReason: String? { connector.identity.blockingReason }

    /// Its connections are on event loops.
    public var neverBlocks: Bool { true }

    /// Ends all connections; operations in progress end or throw.
    public func close() async {
        let tasks = work.withLock { $0 }
        for task in tasks { task.cancel() }
        await servers.close()
        for task in tasks { await task.value }
    }

    // MARK: Parts

    var isCluster: Bool { servers.isCluster }

    /// See ``Servers/review()``.
    func review() { servers.review() }

    var deadline: NIODeadline { .now() + timeLimit }

    var knownSpaces: [String] { spaces.withLock { $0.map(\.string) } }

    /// Notes a space for the sweep.
    ///
    /// Returns the key of its index.
    private func touch(_ space: String) -> [UInt8] {
        spaces.withLock { spaces in
            if spaces.count < Limits.sweptSpaces { _ = spaces.insert(ExactText(space)) }
        }
        return connector.keys.index(space)
    }

    private func key(of change: StateChange) -> [UInt8] {
        switch change {
        case .insert(let key, _, _, _): connector.keys.entry(key)
        case .advance(let key, _): connector.keys.counter(key)
        }
    }

    /// The first key and argument of every script.
    func begin(_ key: [UInt8]) -> (keys: [[UInt8]], arguments: [[UInt8]]) {
        servers.isCluster
            ? ([key], [[]]) : ([connector.keys.identity(tag: nil)], [connector.identity.known() ?? []])
    }

    /// In a cluster the index of a space is in another slot than the entry.
    ///
    /// The name comes before the entry: a name
    /// without an entry is harmless.
    func addToIndex(_ key: StateKey, _ deadline: NIODeadline) async throws(RedisStoreError) {
        let index = touch(key.space)
        let command = Command.words([Array("ZADD".utf8), index, [UInt8(ascii: "0")], Array(key.name.utf8)])
        _ = try await call(command, key: index, writes: true, deadline)
    }

    func call(
        _ command: Command, key: [UInt8], writes: Bool, _ deadline: NIODeadline
    ) async throws(RedisStoreError) -> RedisReply {
        let reply = try await servers.call(command, key: key, writes: writes, deadline: deadline)
        if case .error(let error) = reply { throw RedisStoreError(answer: error, from: connector.location.name) }
        return reply
    }

    func unexpected(_ reply: RedisReply) -> RedisStoreError {
        RedisStoreError(
            .badAnswer,
            "\(connector.location.name): an answer of another form; does another program use the keys of "
                + "'\(connector.location.prefix)'?")
    }
}
