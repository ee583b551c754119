internal import AssayCore
internal import AssayKit
internal import GRPCCore
internal import GRPCProtobuf
internal import Logging

/// `envoy.service.auth.v3.Authorization`.
struct AuthorizationService: Envoy_Service_Auth_V3_Authorization.StreamingServiceProtocol {
    let handler: any CallHandler
    let method: DecidingMethod
    let configuration: ExtAuthzConfiguration
    let refusals: RefusalLog
    let forwarded: ForwardedCalls

    /// Like the generated code, but with a deserializer that has limits.
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
        let reservation = request.metadata[stringValues: ForwardedCalls.header].first { _ in true }
            .flatMap { forwarded.take($0) }
        defer { withExtendedLifetime(reservation) {} }
        // Nobody waits for the answer, and nothing was done for it.
        guard !context.cancellation.isCancelled else {
            throw RPCError(code: .cancelled, message: "The call was reset.")
        }
        let answer: AuthorizationAnswer
        do {
            let request = try await message(of: request)
            let question = try AuthorizationQuestion(request, method: method, limits: configuration.limits)
            let reply = await handler.handle(question.call)
            answer = AuthorizationAnswer(
                reply, findings: method.findings, claimed: question.claimed, forwardsToken: configuration.forwardsToken)
            if answer.isUntold {
                // Its record says that the request was allowed.
                refused("the decision has a value that no header can carry", ["decision": "\(reply.decision)"])
            }
        } catch let error as UnreadableCheck {
            refused("\(error)")
            answer = AuthorizationAnswer(error)
        }
        return StreamingServerResponse(single: ServerResponse(message: answer.response))
    }

    /// All checks come from proxies, so their peers do not distinguish them.
    private func refused(_ detail: String, _ metadata: Logger.Metadata = [:]) {
        refusals.refused(AuthorizationAnswer.unreadableStatus, peer: nil) {
            metadata.merging(["detail": .stringConvertible(LogField(detail))]) { $1 }
        }
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
