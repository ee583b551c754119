internal import AssayCore
internal import NIOCore

/// Who carries out the commands of a store: one server, or a cluster of them.
protocol Servers: Sendable {
    /// Whether the keys of a script have to be in one slot.
    var isCluster: Bool { get }
    /// Sends a command to the server of a key.
    func call(
        _ command: Command, key: [UInt8], writes: Bool, deadline: NIODeadline
    ) async throws(RedisStoreError) -> RedisReply
    /// Fails what has waited for too long.
    func expire()
    /// Has every open connection reviewed soon: its server may be a replica now, or have settings that forget.
    func review()
    /// Does what changed circumstances demand, such as to ask a cluster who serves what.
    func care() async
    /// Begins to close.
    func end()
    /// Waits for the end.
    func close() async
}

/// One server, with a connection for reads, which wait for no disk, and one for writes.
final class SingleServer: Servers {
    let isCluster = false
    private let writer: Link
    private let reader: Link
    private let identity: Identity
    private let name: String

    init(_ connector: Connector) {
        name = connector.location.name
        identity = connector.identity
        let connect: Link.Connect = { () async throws(RedisStoreError) in try await connector.session() }
        let review: Link.Review = { session throws(RedisStoreError) in
            try await connector.holds(session, isCluster: false)
        }
        writer = Link(name, writes: true, timeLimit: connector.limit, connect: connect, review: review)
        reader = Link(name, writes: false, timeLimit: connector.limit, connect: connect, review: review)
        writer.start()
        reader.start()
    }

    func call(
        _ command: Command, key: [UInt8], writes: Bool, deadline: NIODeadline
    ) async throws(RedisStoreError) -> RedisReply {
        do throws(RedisStoreError) {
            let reply = try await (writes ? writer : reader).call(command, deadline: deadline)
            // The master is another one now, also for what is read.
            if writes, case .error(let error) = reply, error.kind.meaning.0 == .readOnly { reader.drop() }
            return reply
        } catch {
            if writes, error.code == .readOnly { reader.drop() }
            if error.code == .replaced { identity.report(slot: 0, server: name) }
            throw error
        }
    }

    func expire() {
        writer.expire()
        reader.expire()
    }

    func review() {
        writer.review()
        reader.review()
    }

    func care() async {}

    func end() {
        writer.end()
        reader.end()
    }

    func close() async {
        end()
        await writer.close()
        await reader.close()
    }
}
