internal import AssayCore
public import AssayKit
internal import NIOCore

extension RedisStore {
    /// Limits on the arguments of callers and on the work of one step.
    enum Limits {
        /// UTF-8 bytes of a space, and of a name.
        static let nameBytes = 1024
        /// Bytes of a value.
        static let valueBytes = 1 << 20
        /// Entries of one page of a list, and names and bytes of values that one answer has.
        static let listedEntries = 10_000
        static let page = 256
        static let pageBytes = 1 << 20
        /// Operations, and bytes in them, that wait for a connection or for its answer.
        static let waiting = 16_384
        static let waitingBytes = 64 << 20
        /// Operations and bytes that are sent at once.
        static let batched = 256
        static let batchedBytes = 4 << 20
        /// Servers of a cluster, and how often one operation is redirected.
        static let nodes = 256
        static let redirections = 5
        /// Spaces whose names a sweep visits, and the times between two looks at the server and two sweeps.
        static let sweptSpaces = 1000
        static let watchInterval = Duration.seconds(5)
        static let sweepInterval = Duration.seconds(600)
        /// How exactly time limits are kept.
        static let tick = Duration.milliseconds(50)
        /// How long the server keeps an entry after its end, by its own clock: clocks may differ by that much.
        static let margin = Duration.seconds(600)
        /// Pauses between attempts to connect.
        static let reconnecting = Backoff(first: .milliseconds(50), limit: .seconds(2))
    }

    func check(_ key: StateKey, _ value: [UInt8]) throws(RedisStoreError) {
        guard key.space.utf8.count <= Limits.nameBytes, key.name.utf8.count <= Limits.nameBytes else {
            throw RedisStoreError(.tooLarge, "a space or name of more than \(Limits.nameBytes) bytes")
        }
        guard value.count <= Limits.valueBytes else {
            throw RedisStoreError(.tooLarge, "a value of \(value.count) bytes; at most \(Limits.valueBytes)")
        }
    }

    func check(_ changes: [StateChange]) throws(RedisStoreError) {
        guard (1...StateChange.limit).contains(changes.count) else {
            throw RedisStoreError(
                .tooLarge, "a commit of \(changes.count) changes; from 1 to \(StateChange.limit) are possible")
        }
        if let fault = StateChange.fault(in: changes) { throw RedisStoreError(.failed, fault) }
        for case .insert(let key, let value, _, _) in changes { try check(key, value) }
        for case .advance(let key, _) in changes { try check(key, []) }
    }
}

extension RedisStore: StateStorePlugin {
    /// `redis`, followed by the rest of the URL.
    public static let descriptor = StorageDescriptor(
        scheme: "redis", version: AssayVersion.text,
        summary: "State in Redis or Valkey, for servers on several machines.", location: "//HOST:PORT/0[#OPTIONS]",
        posture: SecurityPosture(
            proves: "What was used once stays used for all servers, as far as the server keeps what it acknowledged.",
            trusts: ["the Redis or Valkey server, and its disk", "the network to it, without TLS"]),
        survival: .powerLoss, sharing: .servers)

    /// Opens the store without TLS.
    ///
    /// - Throws: `StateStoreOpeningError` for a wrong URL, a server that cannot be reached, or one that may forget.
    public static func open(
        _ location: String, host: StorageHost
    ) async throws(StateStoreOpeningError) -> RedisStore {
        try await open(location, isSecure: false, clock: host.clock)
    }

    static func open(
        _ text: String, isSecure: Bool, clock: HostClock
    ) async throws(StateStoreOpeningError) -> RedisStore {
        do throws(RedisStoreError) {
            return try await RedisStore(try RedisLocation(text, isSecure: isSecure), clock: clock)
        } catch {
            throw StateStoreOpeningError("redis: \(error.message)")
        }
    }

    /// Looks at the server, its settings and its clock every few seconds, and removes names of entries that are gone from
    /// lists every ten minutes, until its task is cancelled.
    public func run() async throws {
        var next = clock.uptime + Limits.sweepInterval
        while !Task.isCancelled {
            let isDue = clock.uptime >= next
            // A store that cannot be used is not ready anyway, and is ready at once when it can be used again.
            if let error = await failure(sweeps: isDue), !error.isOutage { throw error }
            if isDue { next = clock.uptime + Limits.sweepInterval }
            try await clock.sleep(for: Limits.watchInterval)
        }
    }

    private func failure(sweeps: Bool) async -> RedisStoreError? {
        do throws(RedisStoreError) {
            try await watch()
            if sweeps { try await sweep() }
            return nil
        } catch {
            return error
        }
    }

    /// Finds out, also while nobody calls, whether the data is there, whether the server in use would still be accepted,
    /// and whose clock differs.
    func watch() async throws(RedisStoreError) {
        let deadline = deadline
        review()
        for key in isCluster ? connector.identity.slots.map({ connector.keys.identity(tag: HashSlot.tags[$0]) }) : [[]]
        {
            let before = clock.now
            let reply: RedisReply
            if isCluster {
                reply = try await call(.words([Array("GET".utf8), key]), key: key, writes: false, deadline)
                let slot = HashSlot.of(key)
                try connector.identity.check(reply.bytes ?? [], slot: slot, server: connector.location.name)
            } else {
                let probe = connector.keys.entry(StateKey("probe", ""))
                _ = try await entry(probe, deadline)
                let time = try await call(Command("TIME"), key: [], writes: false, deadline)
                guard let parts = time.elements, parts.count == 2, let seconds = parts[0].text.flatMap({ Int64($0) })
                else { throw unexpected(time) }
                connector.losses.note(server: Instant(seconds: seconds), here: before)
            }
        }
    }

    /// What the servers in use may forget, and whether their clock differs; nil when there is nothing to say.
    public var caution: String? { connector.losses.text }

    /// Always fails, and says how the server's own tools make copies.
    public static func copy(
        _ location: String, to path: String, adding entries: [StateKey: [UInt8]]
    ) async throws(StateStoreOpeningError) {
        throw copyingError
    }

    static let copyingError = StateStoreOpeningError(
        "redis: copy it with the server's own tools: `redis-cli BGREWRITEAOF`, then copy its folder `appendonlydir`, or "
            + "`redis-cli --rdb FILE`; a copy that is restored has forgotten what was used after it was made")

    /// Asks the server for its kind, its durability and its contents.
    public static func examine(_ location: String) async throws(StateStoreOpeningError) -> StateStoreFindings {
        try await examine(location, isSecure: false)
    }

    static func examine(_ text: String, isSecure: Bool) async throws(StateStoreOpeningError) -> StateStoreFindings {
        do throws(RedisStoreError) {
            let location = try RedisLocation(text, isSecure: isSecure)
            let connector = try Connector(location, identity: Identity(), secrets: .system)
            var findings = StateStoreFindings(problems: [], contents: [])
            for server in try await connector.masters() {
                do throws(RedisStoreError) {
                    let connection = try await connector.open(server)
                    defer { connection.close() }
                    let found = try await examine(try await connector.facts(connection), connection, connector)
                    findings = StateStoreFindings(
                        problems: findings.problems + found.problems, contents: findings.contents + found.contents)
                } catch {
                    guard location.servers.count > 1 else { throw error }
                    findings = StateStoreFindings(
                        problems: findings.problems + [error.message], contents: findings.contents)
                }
            }
            return findings
        } catch {
            throw StateStoreOpeningError("redis: \(error.message)")
        }
    }

    private static func examine(
        _ facts: ServerFacts, _ connection: Connection, _ connector: Connector
    ) async throws(RedisStoreError) -> StateStoreFindings {
        let name = "\(connection.server)"
        var problems = DurabilityVerdict(facts, replicas: connector.location.replicas).losses.map { "\(name): \($0)" }
        if !facts.isMaster { problems.append("\(name): a replica") }
        let settings = ServerFacts.names.compactMap { setting in
            facts.settings?[ExactText(setting)].map { "\(setting) \(RedisStoreError.shortened($0))" }
        }
        var contents = [
            "\(name): \(facts.product) \(facts.version)\(facts.isCluster ? ", of a cluster" : "")",
            "\(name): \(settings.joined(separator: ", "))",
            "\(name): \(facts.keys) keys, \(facts.memory) bytes of memory, \(facts.replicas) replicas",
        ]
        if !facts.isCluster {
            let key = connector.keys.identity(tag: nil)
            let reply = try await connection.ask([.words([Array("GET".utf8), key])], limit: connector.limit).first
            if reply?.bytes == nil {
                contents.append("\(name): no state of Assay with the prefix '\(connector.location.prefix)'")
            }
        }
        return StateStoreFindings(problems: problems, contents: contents)
    }
}
