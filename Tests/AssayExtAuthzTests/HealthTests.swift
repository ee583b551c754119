import AssayKit
import AssayTesting
import GRPCCore
import Testing

@testable import AssayExtAuthz

private let states: [(Readiness, Grpc_Health_V1_HealthCheckResponse.ServingStatus)] = [
    (.ready, .serving), (.degraded("old policies"), .serving), (.notReady("no store"), .notServing),
]

@Suite("Health over gRPC", .timeLimit(.minutes(5)))
struct HealthTests {
    @Test("it is that of the kernel, for the server and for the service", arguments: states)
    func check(readiness: Readiness, expected: Grpc_Health_V1_HealthCheckResponse.ServingStatus) async throws {
        try await ExtAuthzServer.with(ScriptedHandler(readiness: readiness)) { server in
            try await server.withClient { client in
                #expect(try await client.health() == expected)
                #expect(try await client.health("envoy.service.auth.v3.Authorization") == expected)
            }
        }
    }

    @Test("a service that there is not is not found, and watched as unknown")
    func unknown() async throws {
        try await ExtAuthzServer.with { server in
            try await server.withClient { client in
                let error = await #expect(throws: RPCError.self) { try await client.health("example.Orders") }
                #expect(error?.code == .notFound)
                let first = try await client.watch("example.Orders") { messages in
                    try await messages.first { _ in true }?.status
                }
                #expect(first == .serviceUnknown)
            }
        }
    }

    @Test("who watches is told each change, and nothing while there is none")
    func watch() async throws {
        let clock = ManualClock()
        let handler = ScriptedHandler()
        try await ExtAuthzServer.with(handler, clock: clock.hostClock) { server in
            try await server.withClient { client in
                try await client.watch { messages in
                    var iterator = messages.makeAsyncIterator()
                    #expect(try await iterator.next()?.status == .serving)
                    for (readiness, expected) in [states[2], states[1]] {
                        // A look that finds nothing new.
                        try await look(clock)
                        handler.readiness = readiness
                        try await look(clock)
                        #expect(try await iterator.next()?.status == expected)
                    }
                }
            }
            try await look(clock)
            clock.advance(by: .seconds(3600))
        }
    }

    @Test("there are only so many watches at once")
    func crowd() async throws {
        try await ExtAuthzServer.with(limits: { $0.watches = 1 }) { server in
            try await server.withClient { client in
                try await client.watch { messages in
                    _ = try await messages.first { _ in true }
                    let error = await #expect(throws: RPCError.self) {
                        try await client.watch { messages in for try await _ in messages {} }
                    }
                    #expect(error?.code == .resourceExhausted)
                }
            }
        }
    }

    @Test("watches end with the server")
    func shutdown() async throws {
        try await ExtAuthzServer.with(limits: { $0.watchInterval = .milliseconds(10) }) { server in
            try await server.withClient { client in
                try await client.watch { messages in
                    var count = 0
                    for try await _ in messages {
                        count += 1
                        if count == 1 { await server.services.triggerGracefulShutdown() }
                    }
                    #expect(count == 1)
                }
            }
        }
    }

    private func look(_ clock: ManualClock) async throws {
        while clock.sleeperCount == 0 { await Task.yield() }
        clock.advance(by: .seconds(1))
    }
}
