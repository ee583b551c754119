internal import AssayCore
internal import AssayKit
internal import GRPCCore
internal import SwiftProtobuf
internal import Synchronization

/// `grpc.health.v1.Health`: whether the handler can do its work.
final class HealthService: Grpc_Health_V1_Health.StreamingServiceProtocol {
    typealias Status = Grpc_Health_V1_HealthCheckResponse.ServingStatus

    private let handler: any CallHandler
    private let limits: ExtAuthzLimits
    private let clock: HostClock
    private let watches = Mutex(0)

    init(handler: any CallHandler, limits: ExtAuthzLimits, clock: HostClock) {
        self.handler = handler
        self.limits = limits
        self.clock = clock
    }

    func check(
        request: StreamingServerRequest<Grpc_Health_V1_HealthCheckRequest>, context: ServerContext
    ) async throws -> StreamingServerResponse<Grpc_Health_V1_HealthCheckResponse> {
        let request = try await ServerRequest(stream: request).message
        let status = await status(of: request.service)
        guard status != .serviceUnknown else { throw RPCError(code: .notFound, message: "Unknown service.") }
        return StreamingServerResponse(single: ServerResponse(message: .with { $0.status = status }))
    }

    /// Sends the state, and each change of it, until the client leaves or the server ends.
    func watch(
        request: StreamingServerRequest<Grpc_Health_V1_HealthCheckRequest>, context: ServerContext
    ) async throws -> StreamingServerResponse<Grpc_Health_V1_HealthCheckResponse> {
        let service = try await ServerRequest(stream: request).message.service
        return StreamingServerResponse { [self] writer in
            try begin()
            defer { watches.withLock { $0 -= 1 } }
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask { try await context.cancellation.cancelled }
                group.addTask { try await self.tell(writer, about: service) }
                try await group.next()
            }
            return [:]
        }
    }

    private func tell(_ writer: RPCWriter<Grpc_Health_V1_HealthCheckResponse>, about service: String) async throws {
        var last: Status?
        while true {
            let status = await status(of: service)
            if status != last { try await writer.write(.with { $0.status = status }) }
            last = status
            try await clock.sleep(for: limits.watchInterval)
        }
    }

    private func begin() throws(RPCError) {
        let hasRoom = watches.withLock { watches in
            guard watches < limits.watches else { return false }
            watches += 1
            return true
        }
        guard hasRoom else { throw RPCError(code: .resourceExhausted, message: "There are too many watches.") }
    }

    /// The empty name stands for the server as a whole.
    private func status(of service: String) async -> Status {
        let own = Envoy_Service_Auth_V3_Authorization.descriptor.fullyQualifiedService
        guard service.isEmpty || service.isExactly(own) else { return .serviceUnknown }
        return switch await handler.readiness {
        case .ready, .degraded: .serving
        case .notReady: .notServing
        }
    }
}
