internal import AssayKit
internal import GRPCCore
internal import GRPCProtobuf
internal import Logging

/// `envoy.service.auth.v3.Authorization`.
struct AuthorizationService: Envoy_Service_Auth_V3_Authorization.StreamingServiceProtocol {
    let handler: any CallHandler
    let method: String
    let configuration: ExtAuthzConfiguration
    let logger: Logger

    /// As the generated one, with a deserializer that has bounds.
    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        router.registerHandler(
            forMethod: Envoy_Service_Auth_V3_Authorization.Method.Check.descriptor,
            deserializer: CheckDeserializer(configuration.limits),
            serializer: ProtobufSerializer<Envoy_Service_Auth_V3_CheckResponse>()
        ) { request, context in
            try await check(request: request, context: context)
        }
    }

    func check(
        request: StreamingServerRequest<Envoy_Service_Auth_V3_CheckRequest>, context: ServerContext
    ) async throws -> StreamingServerResponse<Envoy_Service_Auth_V3_CheckResponse> {
        let answer: AuthorizationAnswer
        do {
            let request = try await message(of: request)
            let question = try AuthorizationQuestion(request, method: method, limits: configuration.limits)
            answer = AuthorizationAnswer(
                await handler.handle(question.call), claimed: question.claimed,
                forwardsToken: configuration.forwardsToken)
        } catch let error as UnreadableCheck {
            logger.info("check refused", metadata: ["detail": "\(error)"])
            answer = AuthorizationAnswer(error)
        }
        return StreamingServerResponse(single: ServerResponse(message: answer.response))
    }

    private func message(
        of request: StreamingServerRequest<Envoy_Service_Auth_V3_CheckRequest>
    ) async throws -> Envoy_Service_Auth_V3_CheckRequest {
        do {
            return try await ServerRequest(stream: request).message
        } catch let error as RPCError where error.code == .invalidArgument {
            throw UnreadableCheck(error.message)
        }
    }
}
