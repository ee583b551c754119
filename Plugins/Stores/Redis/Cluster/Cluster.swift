internal import AssayCore
internal import NIOCore
internal import Synchronization

/// The masters of a cluster: each key goes to the server of its slot, and redirections are followed.
final class Cluster: Servers {
    private struct Node: Sendable {
        let writer: Link
        let reader: Link
    }

    private struct State {
        var map = SlotMap()
        var nodes: [ServerAddress: Node] = [:]
        var isStale = false
        var isClosed = false
    }

    let isCluster = true
    private let connector: Connector
    private let state = Mutex(State())

    private init(_ connector: Connector) {
        self.connector = connector
    }

    static func open(_ connector: Connector) async throws(RedisStoreError) -> Cluster {
        let cluster = Cluster(connector)
        try await cluster.refresh()
        // Each of them is verified before anything depends on it.
        let map = cluster.state.withLock { $0.map }
        guard map.servers.count <= RedisStore.Limits.nodes else {
            throw RedisStoreError(.clusterDown, "the cluster names too many servers")
        }
        for server in map.servers {
            try await connector.session(server, slots: map.ranges(of: server)).connection.close()
        }
        return cluster
    }

    func call(
        _ command: Command, key: [UInt8], writes: Bool, deadline: NIODeadline
    ) async throws(RedisStoreError) -> RedisReply {
        let slot = HashSlot.of(key)
        var asked: ServerAddress?
        for _ in 0...RedisStore.Limits.redirections {
            let (server, link) = try link(asked, slot, writes)
            let reply: RedisReply
            do throws(RedisStoreError) {
                reply = try await link.call(command, deadline: deadline, isAsking: asked != nil)
            } catch {
                // A server that is gone may have been replaced by one of its replicas.
                state.withLock { $0.isStale = true }
                throw error
            }
            guard case .error(let error) = reply else { return reply }
            guard let redirection = Redirection(error, from: server) else {
                // Nothing was done; while the slot's keys move, some are at each of two servers for a moment.
                if error.kind == .tryAgain, await pause(before: deadline) { continue }
                // Another server may serve the slot by now.
                let code = error.kind.meaning.0
                if code == .clusterDown || code == .readOnly { state.withLock { $0.isStale = true } }
                return reply
            }
            switch redirection {
            case .moved(let slot, let target):
                state.withLock { state in
                    state.map.move(slot, to: target)
                    state.isStale = true
                }
                asked = nil
            case .ask(let target): asked = target
            }
        }
        throw RedisStoreError(.clusterDown, "the servers of the cluster redirect to each other without an end")
    }

    /// Waits a moment; returns false when the operation ends before that.
    private func pause(before deadline: NIODeadline) async -> Bool {
        guard NIODeadline.now() + .milliseconds(100) < deadline else { return false }
        return (try? await Task.sleep(for: .milliseconds(50))) != nil
    }

    private func link(
        _ asked: ServerAddress?, _ slot: Int, _ writes: Bool
    ) throws(RedisStoreError) -> (ServerAddress, Link) {
        let found = state.withLock { state -> Result<(ServerAddress, Link), RedisStoreError> in
            guard !state.isClosed else { return .failure(RedisStoreError(.closed, "the store is closed")) }
            guard let server = asked ?? state.map.owner(of: slot) else {
                state.isStale = true
                return .failure(
                    RedisStoreError(
                        .clusterDown, "no server of the cluster serves slot \(slot): see `redis-cli --cluster check`"))
            }
            guard state.nodes[server] != nil || state.nodes.count < RedisStore.Limits.nodes else {
                return .failure(RedisStoreError(.clusterDown, "the cluster names too many servers"))
            }
            let node = state.nodes[server] ?? node(server)
            state.nodes[server] = node
            return .success((server, writes ? node.writer : node.reader))
        }
        let (server, link) = try found.get()
        link.start()
        return (server, link)
    }

    private func node(_ server: ServerAddress) -> Node {
        let connector = connector
        let connect: Link.Connect = { [weak self] () async throws(RedisStoreError) in
            guard let self else { throw RedisStoreError(.closed, "the store is closed") }
            return try await connector.session(server, slots: self.state.withLock { $0.map.ranges(of: server) })
        }
        let review: Link.Review = { session throws(RedisStoreError) in
            try await connector.holds(session, isCluster: true)
        }
        return Node(
            writer: Link("\(server)", writes: true, timeLimit: connector.limit, connect: connect, review: review),
            reader: Link("\(server)", writes: false, timeLimit: connector.limit, connect: connect, review: review))
    }

    func expire() {
        for node in state.withLock({ Array($0.nodes.values) }) {
            node.writer.expire()
            node.reader.expire()
        }
    }

    func review() {
        let (nodes, servers) = state.withLock { (Array($0.nodes.values), $0.map.servers) }
        connector.losses.keep(servers)
        for node in nodes {
            node.writer.review()
            node.reader.review()
        }
    }

    func care() async {
        let isStale = state.withLock { state in
            defer { state.isStale = false }
            return state.isStale && !state.isClosed
        }
        guard isStale else { return }
        do {
            try await refresh()
        } catch {
            state.withLock { $0.isStale = true }
        }
    }

    /// Asks a server of the cluster who serves which slots.
    private func refresh() async throws(RedisStoreError) {
        let known = state.withLock { Array($0.nodes.keys) }
        var last = RedisStoreError(.cannotConnect, "no server of the cluster is known")
        for server in known + connector.location.servers {
            do throws(RedisStoreError) {
                let connection = try await connector.open(server)
                defer { connection.close() }
                let reply = try await connection.ask([Command("CLUSTER", "SLOTS")], limit: connector.limit).first
                if case .error(let error)? = reply { throw RedisStoreError(answer: error, from: "\(server)") }
                guard let reply, let map = SlotMap(reply, from: server) else {
                    throw RedisStoreError(.badAnswer, "\(server): an answer to CLUSTER SLOTS of another form")
                }
                install(map)
                return
            } catch {
                last = error
            }
        }
        throw last
    }

    private func install(_ map: SlotMap) {
        let gone = state.withLock { state in
            state.map = map
            let servers = map.servers
            let gone = state.nodes.filter { !servers.contains($0.key) }
            for server in gone.keys { state.nodes[server] = nil }
            return gone.values
        }
        for node in gone {
            node.writer.end()
            node.reader.end()
        }
    }

    func end() {
        let nodes = state.withLock { state in
            state.isClosed = true
            return Array(state.nodes.values)
        }
        for node in nodes {
            node.writer.end()
            node.reader.end()
        }
    }

    func close() async {
        end()
        for node in state.withLock({ Array($0.nodes.values) }) {
            await node.writer.close()
            await node.reader.close()
        }
    }
}
