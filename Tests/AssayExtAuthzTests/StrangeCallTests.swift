import AssayCore
import AssayTestSupport
import AssayTransport
import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import AssayExtAuthz

/// No bytes of a stranger end the process, which is this one.
@Suite("Strange calls of ext_authz", .timeLimit(.minutes(20)))
struct StrangeCallTests {
    /// Another one in each run; `ASSAY_SEED` repeats one.
    private static let seed =
        ProcessInfo.processInfo.environment["ASSAY_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64(UInt32.max))

    @Test("a timeout below zero ends its call, and not the process")
    func negativeTimeout() async throws {
        try await ExtAuthzServer.with { server in
            for value in ["-1S", "-0S", "-9999999H"] {
                try await server.withClient { client in
                    let error = await #expect(throws: GRPCFailure.self) {
                        try await client.unary(
                            "/envoy.service.auth.v3.Authorization/Check", [], fields: [("grpc-timeout", value)])
                    }
                    #expect(error?.code == GRPCFailure.invalidArgument)
                    let leave = try await client.check(.about()).isLeave
                    #expect(leave)
                }
            }
        }
    }

    @Test("after each burst of calls with any heads and of any frames, the next client is answered")
    func bursts() async throws {
        // Before anything is sent: a process that has ended says nothing any more.
        print("strange calls: ASSAY_SEED=\(Self.seed)")
        let budget = TransportBudget()
        try await ExtAuthzServer.with(budget: budget) { server in
            let port = try #require(server.port)
            for burst in 0..<150 as Range<UInt64> {
                var sent = StrangeConnection(seed: Self.seed &+ burst)
                // Frames that end a connection would hide the calls behind them: in every third burst, at its end.
                for _ in 0..<30 { sent.call() }
                if burst % 3 == 0 {
                    for _ in 0..<20 { sent.strangeFrame() }
                }
                try await Self.send(sent.bytes, to: port)
                let leave = try await server.withClient { try await $0.check(.about()).isLeave }
                #expect(leave, "ASSAY_SEED=\(Self.seed), burst \(burst)")
            }
        }
        #expect(budget.bytes == 0)
        #expect(budget.streams == 0)
    }

    /// Sends everything, and reads until the server has answered what comes after it, or has closed.
    private static func send(_ bytes: [UInt8], to port: Int) async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: false)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let ping: [UInt8] = [0, 0, 8, 6, 0, 0, 0, 0, 0] + Array("the end.".utf8)
        let answer: [UInt8] = [0, 0, 8, 6, 1, 0, 0, 0, 0] + Array("the end.".utf8)
        // The server may close at any time.
        try? await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(bytes: bytes + ping))
            var last: [UInt8] = []
            for try await part in inbound {
                last = (last + Array(buffer: part)).suffix(64 * 1024)
                if last.contains(answer) { break }
            }
        }
    }
}
