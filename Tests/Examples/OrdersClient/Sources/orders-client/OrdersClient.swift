import AssayClient
import AssayClientHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Prints the orders of a backend that wants App Check tokens.
@main
struct OrdersClient {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 3, let server = arguments.first, let url = arguments.last else {
            say("usage: orders-client SERVER APP URL")
            exit(2)
        }
        do {
            let response = try await orders(of: url, server: server, app: arguments[2])
            print(String(decoding: response.body, as: UTF8.self))
            if response.status != 200 {
                say("the backend answers \(response.status)")
                exit(1)
            }
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    private static func orders(of url: String, server: String, app: String) async throws -> ClientResponse {
        let transport = try HTTPClientTransport()
        let result: Result<ClientResponse, any Error>
        do {
            let appCheck = try AppCheck(
                app: app, endpoint: server, provider: DebugProvider(), options: AppCheckOptions(transport: transport))
            let calls = ProtectedCalls(appCheck: appCheck, transport: transport)
            result = .success(try await calls.send(ClientRequest(url: url)))
        } catch {
            result = .failure(error)
        }
        await transport.shutDown()
        return try result.get()
    }

    private static func say(_ sentence: String) {
        let bytes = Array("orders-client: \(sentence)\n".utf8)
        _ = write(2, bytes, bytes.count)
    }
}
