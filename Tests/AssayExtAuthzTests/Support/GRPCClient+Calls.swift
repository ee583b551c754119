import GRPCCore
import GRPCProtobuf
import SwiftProtobuf

@testable import AssayExtAuthz

extension GRPCClient {
    /// Asks as Envoy does.
    func check(_ request: CheckRequest, options: CallOptions = .defaults) async throws -> CheckResponse {
        try await check(bytes: try request.serializedBytes(), options: options)
    }

    /// Sends something in the place of a request.
    func check(bytes: [UInt8], options: CallOptions = .defaults) async throws -> CheckResponse {
        try await unary(
            request: ClientRequest(message: bytes),
            descriptor: Envoy_Service_Auth_V3_Authorization.Method.Check.descriptor, serializer: RawBytes(),
            deserializer: ProtobufDeserializer<CheckResponse>(), options: options
        ) { try $0.message }
    }

    /// Asks whether the server works.
    func health(_ service: String = "") async throws -> Grpc_Health_V1_HealthCheckResponse.ServingStatus {
        try await unary(
            request: ClientRequest(message: Grpc_Health_V1_HealthCheckRequest.with { $0.service = service }),
            descriptor: Grpc_Health_V1_Health.Method.Check.descriptor,
            serializer: ProtobufSerializer<Grpc_Health_V1_HealthCheckRequest>(),
            deserializer: ProtobufDeserializer<Grpc_Health_V1_HealthCheckResponse>(), options: .defaults
        ) { try $0.message.status }
    }

    /// Is told whether the server works, and whenever that changes.
    func watch<Result: Sendable>(
        _ service: String = "",
        _ body:
            @escaping @Sendable (
                RPCAsyncSequence<Grpc_Health_V1_HealthCheckResponse, any Error>
            ) async throws -> Result
    ) async throws -> Result {
        try await serverStreaming(
            request: ClientRequest(message: Grpc_Health_V1_HealthCheckRequest.with { $0.service = service }),
            descriptor: Grpc_Health_V1_Health.Method.Watch.descriptor,
            serializer: ProtobufSerializer<Grpc_Health_V1_HealthCheckRequest>(),
            deserializer: ProtobufDeserializer<Grpc_Health_V1_HealthCheckResponse>(), options: .defaults
        ) { try await body($0.messages) }
    }
}

/// Bytes as they are.
struct RawBytes: MessageSerializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ message: [UInt8]) throws -> Bytes { Bytes(message) }
}
