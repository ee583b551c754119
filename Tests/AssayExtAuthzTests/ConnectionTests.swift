import AssayCore
import AssayHTTPServer
import AssayKit
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import AssayExtAuthz

@Suite("Connections of ext_authz", .timeLimit(.minutes(20)))
struct ConnectionTests {
    @Test("connections that only wait make room, so that they cannot keep a client out")
    func crowd() async throws {
        try await ExtAuthzServer.with(limits: { $0.maximumConnections = 2 }) { server in
            let port = try #require(server.port)
            try await Self.connect(port) { first in
                var bytes = first.makeAsyncIterator()
                // The server's first word: until then the connection may not have been counted.
                #expect(try await bytes.next() != nil)
                try await Self.connect(port) { second in
                    try await Self.isServed(second)
                    let leave = try await server.withClient { try await $0.check(.about()).isLeave }
                    #expect(leave)
                }
                // It ends.
                while try await bytes.next() != nil {}
            }
        }
    }

    @Test("connections whose calls are answered make none: one more is closed at once")
    func busy() async throws {
        let asked = AsyncStream.makeStream(of: Void.self)
        let gate = AsyncStream.makeStream(of: Void.self)
        let handler = ScriptedHandler { _ in
            asked.continuation.yield()
            for await _ in gate.stream {}
            return .success([:])
        }
        try await ExtAuthzServer.with(handler, limits: { $0.maximumConnections = 1 }) { server in
            let port = try #require(server.port)
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask { try await server.withClient { try await $0.check(.about()).isLeave } }
                _ = await asked.stream.first { _ in true }
                try await Self.connect(port) { second in
                    var bytes = 0
                    for try await buffer in second { bytes += buffer.readableBytes }
                    #expect(bytes == 0)
                }
                gate.continuation.finish()
                let leave = try await group.next()
                #expect(leave == true)
            }
        }
    }

    // HTTP/2 passes over what comes for the last 32 streams that were reset, and ends the connection for older ones.
    @Test("half-open calls are answered and reset, and nothing is held for them", arguments: [1, 30])
    func halfOpen(streams: Int) async throws {
        let budget = TransportBudget()
        try await ExtAuthzServer.with(budget: budget, limits: { $0.receiveTime = .seconds(1) }) { server in
            try await server.withClient { client in
                try await withThrowingTaskGroup(of: Int?.self) { group in
                    for _ in 0..<streams {
                        group.addTask {
                            let error = await #expect(throws: GRPCFailure.self) {
                                // A message of 15,000 bytes, of which 10 do not come.
                                let bytes = [0, 0, 0, 0x3A, 0x98] + [UInt8](repeating: 0, count: 14_990)
                                try await client.call(
                                    "/envoy.service.auth.v3.Authorization/Check", bytes, ends: false
                                ) { _ = try await $0.next() }
                            }
                            return error?.code
                        }
                    }
                    for try await code in group { #expect(code == GRPCFailure.deadlineExceeded) }
                }
                let leave = try await client.check(.about()).isLeave
                #expect(leave)
            }
        }
        #expect(budget.bytes == 0)
        #expect(budget.streams == 0)
    }

    @Test("a call beyond what a connection or the process may hold is refused, and the next one is taken")
    func budget() async throws {
        for budget in [TransportBudget(bytes: 4000), TransportBudget()] {
            try await ExtAuthzServer.with(budget: budget, limits: { $0.connectionBytes = 4000 }) { server in
                try await server.withClient { client in
                    let error = await #expect(throws: GRPCFailure.self) {
                        try await client.check(.about(headers: [("cookie", String(repeating: "a", count: 5000))]))
                    }
                    #expect(error?.code == GRPCFailure.broken)
                    let leave = try await client.check(.about()).isLeave
                    #expect(leave)
                }
            }
            #expect(budget.bytes == 0)
            #expect(budget.streams == 0)
        }
    }

    @Test("clients without a call that do not answer do not hold up the end of the server")
    func silent() async throws {
        let begin = ContinuousClock.now
        try await ExtAuthzServer.with(limits: { $0.drainTime = .seconds(600) }) { server in
            let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
            for bytes in [[], preface] {
                let channel = try await Self.open(try #require(server.port))
                try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
                try await channel.pipeline.handler(type: FirstBytes.self).map(\.arrival).get().get()
            }
        }
        #expect(ContinuousClock.now - begin < .seconds(300))
    }

    @Test("all calls of a peer that sends many at once are answered, and beside them those of others")
    func manyAtOnce() async throws {
        try await ExtAuthzServer.with { server in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await server.withClient { client in
                            try await withThrowingTaskGroup(of: Bool.self) { calls in
                                for _ in 0..<100 { calls.addTask { try await client.check(.about()).isLeave } }
                                return try await calls.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                            }
                        }
                    }
                }
                let other = try await server.withClient(from: "127.0.0.2") { try await $0.check(.about()).isLeave }
                #expect(other)
                for try await answered in group { #expect(answered == 100) }
            }
        }
    }

    // NIO ends the process when a connection or a stream is dropped that nothing has read.
    @Test("connections and calls that come while the server is cancelled are closed, and do no harm")
    func cancelled() async throws {
        struct Cancelled: Error {}
        for _ in 0..<30 {
            let calls = Crowd()
            await #expect(throws: Cancelled.self) {
                try await ExtAuthzServer.with { server in
                    calls.start(8) {
                        try? await server.withClient { client in
                            while !Task.isCancelled { _ = try await client.check(.about()) }
                        }
                    }
                    try await server.withClient { _ = try await $0.check(.about()) }
                    throw Cancelled()
                }
            }
            await calls.end()
        }
    }

    /// Waits for the server's first word: until then the connection may not have been counted.
    private static func isServed(_ connection: NIOAsyncChannelInboundStream<ByteBuffer>) async throws {
        for try await _ in connection { return }
        Issue.record("the connection was closed")
    }

    /// A connection whose client answers nothing; it is left to the server to close it.
    private static func open(_ port: Int) async throws -> any Channel {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(FirstBytes(channel.eventLoop))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    /// A connection as bytes; whatever goes wrong with it is its end.
    private static func connect(
        _ port: Int, _ body: @Sendable (NIOAsyncChannelInboundStream<ByteBuffer>) async throws -> Void
    ) async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        try await channel.executeThenClose { inbound, _ in
            try await body(inbound)
        }
    }
}

/// Waits for the first word of the other side.
private final class FirstBytes: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let promise: EventLoopPromise<Void>

    init(_ eventLoop: any EventLoop) { promise = eventLoop.makePromise() }

    var arrival: EventLoopFuture<Void> { promise.futureResult }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { promise.succeed() }

    func channelInactive(context: ChannelHandlerContext) { promise.succeed() }
}

/// Clients that call until they are told to end.
private final class Crowd: Sendable {
    private let tasks = Mutex<[Task<Void, Never>]>([])

    func start(_ count: Int, _ body: @escaping @Sendable () async -> Void) {
        tasks.withLock { tasks in
            for _ in 0..<count {
                tasks.append(
                    Task {
                        while !Task.isCancelled { await body() }
                    })
            }
        }
    }

    func end() async {
        let tasks = tasks.withLock { $0 }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}
