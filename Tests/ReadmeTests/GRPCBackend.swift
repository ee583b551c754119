import AssayVerifier
import GRPCCore

/// Lets calls with a token pass, and tells clients when the token is why it refuses one.
struct RequireAppCheck: ServerInterceptor {
    let verifier: AppCheckVerifier

    func intercept<Input: Sendable, Output: Sendable>(
        request: StreamingServerRequest<Input>, context: ServerContext,
        next: @Sendable (StreamingServerRequest<Input>, ServerContext) async throws -> StreamingServerResponse<Output>
    ) async throws -> StreamingServerResponse<Output> {
        let tokens = Array(request.metadata[stringValues: "x-firebase-appcheck"])
        guard tokens.count == 1, case .verified = try await verifier.verify(tokens[0]) else {
            throw RPCError(
                code: .unauthenticated, message: "An App Check token is needed.",
                metadata: ["www-authenticate": "AppCheck realm=\"assay\", error=\"invalid_token\""])
        }
        return try await next(request, context)
    }
}
