import AssayCore
import AssayKit
import AssayTesting
import ServiceLifecycle
import Testing

@testable import AssayExtAuthz

private let states: [(Readiness, Grpc_Health_V1_HealthCheckResponse.ServingStatus)] = [
    (.ready, .serving), (.degraded("old policies"), .serving), (.notReady("no store"), .notServing),
]

@Suite("Health over gRPC", .timeLimit(.minutes(20)))
struct HealthTests {
    @Test("it is that of the kernel, for the server and for the service", arguments: states)
    func check(readiness: Readiness, expected: Grpc_Health_V1_HealthCheckResponse.ServingStatus) async throws {
        try await ExtAuthzServer.with(ScriptedHandler(readiness: readiness)) { server in
            try await server.withClient { client in
                let found = [
                    try await client.health(), try await client.health("envoy.service.auth.v3.Authorization"),
                ]
                #expect(found == [expected, expected])
            }
        }
    }

    @Test("a service that there is not is not found, and watched as unknown")
    func unknown() async throws {
        try await ExtAuthzServer.with { server in
            try await server.withClient { client in
                let error = await #expect(throws: GRPCFailure.self) { try await client.health("example.Orders") }
                #expect(error?.code == GRPCFailure.notFound)
                let first = try await client.watch("example.Orders") { try await $0() }
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
                try await client.watch { next in
                    let first = try await next()
                    #expect(first == .serving)
                    for (readiness, expected) in [states[2], states[1]] {
                        // A look that finds nothing new.
                        try await look(clock)
                        handler.readiness = readiness
                        try await look(clock)
                        let change = try await next()
                        #expect(change == expected)
                    }
                }
            }
        }
    }

    @Test("there are only so many watches at once")
    func crowd() async throws {
        try await ExtAuthzServer.with(limits: { $0.watches = 1 }) { server in
            try await server.withClient { client in
                try await client.watch { next in
                    _ = try await next()
                    let error = await #expect(throws: GRPCFailure.self) {
                        try await client.watch { _ = try await $0() }
                    }
                    #expect(error?.code == GRPCFailure.resourceExhausted)
                }
            }
        }
    }

    @Test("watches end with the server")
    func shutdown() async throws {
        try await ExtAuthzServer.with(limits: { $0.watchInterval = .milliseconds(10) }) { server in
            try await server.withClient { client in
                let (first, last) = try await client.watch { next in
                    let first = try await next()
                    await server.services.triggerGracefulShutdown()
                    return (first, try await next())
                }
                #expect(first == .serving)
                #expect(last == nil)
            }
        }
    }

    private func look(_ clock: ManualClock) async throws {
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
    }
}
