import AssayCore
import AssayHTTPServer
import AssayTestSupport
import Foundation
import NIOCore
import NIOEmbedded
import NIOPosix
import NIOSSL
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
        let (budget, numbers) = (TransportBudget(), Numbers())
        try await ExtAuthzServer.with(meter: numbers.meter, budget: budget) { server in
            let port = try #require(server.port)
            var answered = 0
            for burst in 0..<60 as Range<UInt64> {
                for connection in 0..<20 as Range<UInt64> {
                    var sent = StrangeConnection(
                        seed: Self.seed &+ 20 * burst &+ connection, path: "/envoy.service.auth.v3.Authorization/Check")
                    // Whatever ends a connection hides what comes after it: few calls each, and the frames at the end.
                    for _ in 0..<2 { sent.call() }
                    for _ in 0..<(connection % 4 == 0 ? 10 : 0) { sent.strangeFrame() }
                    let isAnswered = try await sent.send {
                        try await $0.connect(host: "127.0.0.1", port: port, channelInitializer: $1)
                    }
                    if isAnswered { answered += 1 }
                }
                let leave = try await server.withClient { try await $0.check(.about()).isLeave }
                #expect(leave, "ASSAY_SEED=\(Self.seed), burst \(burst)")
            }
            #expect(answered > 20, "every connection ended before its calls were read")
        }
        let refused = numbers["ext_authz_calls_refused_total", "malformed_timeout"] ?? 0
        #expect(refused > 30, "no timeout came as far as the guard")
        #expect(budget.bytes == 0)
        #expect(budget.streams == 0)
    }

    @Test("after handshakes of TLS that were changed at random, the next client is answered")
    func handshakes() async throws {
        print("strange handshakes: ASSAY_SEED=\(Self.seed)")
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        let certificate = try ServerCertificate(certificateFile: files.certificate, keyFile: files.key)
        let context = try identity.clientContext { $0.applicationProtocols = ["h2"] }
        let hello = try Self.hello(context)
        try await ExtAuthzServer.with(certificate: certificate) { server in
            let port = try #require(server.port)
            var random = SplitMix(seed: Self.seed)
            for round in 0..<120 {
                var bytes = hello
                for _ in 0..<Int.random(in: 0...4, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                if random.happens(onceIn: 3) {
                    bytes = Array(bytes.prefix(Int.random(in: 1...bytes.count, using: &random)))
                }
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let content = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                        UInt8.random(in: 0...255, using: &random)
                    }
                    bytes += [UInt8.random(in: 20...24, using: &random), 3, 3, 0, UInt8(content.count)] + content
                }
                let sent = bytes
                let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .connect(host: "127.0.0.1", port: port).get()
                // The server may close at any time.
                try? await channel.writeAndFlush(ByteBuffer(bytes: sent)).get()
                try? await channel.close()
                guard round.isMultiple(of: 20) else { continue }
                let leave = try await server.withClient(context) { try await $0.check(.about()).isLeave }
                #expect(leave, "ASSAY_SEED=\(Self.seed), round \(round)")
            }
        }
    }

    /// The first bytes that a client sends.
    private static func hello(_ context: NIOSSLContext) throws -> [UInt8] {
        let channel = EmbeddedChannel(handler: try NIOSSLClientHandler(context: context, serverHostname: "localhost"))
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        let bytes = try channel.readOutbound(as: ByteBuffer.self).map { Array(buffer: $0) }
        _ = try? channel.finish(acceptAlreadyClosed: true)
        return try #require(bytes)
    }
}
