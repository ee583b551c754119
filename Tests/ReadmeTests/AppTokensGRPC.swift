import AssayClient
import AssayClientGRPC
import GRPCCore

/// For the transport: a call whose token was refused is made once more, whatever its method.
let retries = ServiceConfig(
    methodConfig: [
        MethodConfig(names: [MethodConfig.Name(service: "")], executionPolicy: AppCheckInterceptor.retryOnce)
    ])

/// A client whose calls have tokens, over a transport with TLS.
func makeClient<Transport: GRPCCore.ClientTransport>(
    _ appCheck: AppCheck, over transport: Transport
) -> GRPCClient<Transport> {
    GRPCClient(transport: transport, interceptors: [AppCheckInterceptor(appCheck: appCheck, security: .tls)])
}
