import AssayCore
import AssayHTTPClient
import AssayKit
import AssayTestSupport
import AssayTesting
import AssayTestingHTTP
import AssayVerifier
import Foundation
import Logging
import Testing

/// The example program, a real `assay serve`, and a backend that verifies tokens with the keys that it publishes.
@Suite("The example program that calls a protected backend", .timeLimit(.minutes(10)))
struct OrdersClientTests {
    private static let app = "projects/example-project/apps/1:1234567890:ios:321abc456def7890"

    /// Runs the program against the backend, whose tokens are those of a server.
    private func run(
        _ server: ServerProcess, keysOf issuer: ServerProcess? = nil, debugToken: String = ServerProcess.debugToken,
        in folder: URL
    ) async throws -> AssayProcess.Result {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let http = try HTTPClientService()
        let verifier = AppCheckVerifier(
            keySet: try #require(EndpointURL("\((issuer ?? server).base)/v1/jwks")),
            requirements: TokenRequirements(
                issuer: "https://firebaseappcheck.googleapis.com/1234567890", audience: "projects/example-project",
                providers: ["debug"]),
            http: http, logger: logger)
        let backend = LocalServer { request in
            let token = request.headers.first { $0.name.lowercasedASCII.isExactly("x-firebase-appcheck") }?.value
            guard case .verified(let verified)? = try? await verifier.verify(token) else {
                let challenge = OutboundHeader("WWW-Authenticate", "AppCheck realm=\"orders\", error=\"invalid_token\"")
                return .respond(OutboundResponse(status: 401, headers: [challenge], body: []))
            }
            let orders: JSON = ["app": .string(verified.subject), "orders": [7]]
            return .respond(OutboundResponse(status: 200, body: orders.encoded))
        }
        let result = try await backend.run { port in
            let process = try AssayProcess(
                [server.base, Self.app, "http://127.0.0.1:\(port)/orders"], of: "orders-client",
                environment: ["AppCheckDebugToken": debugToken, "XDG_STATE_HOME": folder.path])
            return await process.result()
        }
        await http.shutDown()
        return result
    }

    @Test("It prints the orders, and on its second run asks the server for nothing")
    func orders() async throws {
        try await withTemporaryFolder { folder in
            try await ServerProcess.with { server in
                let first = try await run(server, in: folder)
                #expect(first.status == 0, "\(first.errors)")
                #expect(first.output == "{\"app\":\"1:1234567890:ios:321abc456def7890\",\"orders\":[7]}\n")
                // A wrong debug token does no harm while the cached token is good.
                let second = try await run(
                    server, debugToken: "11111111-2222-4333-8444-555555555555", in: folder)
                #expect(second.output == first.output)
            }
        }
    }

    @Test("Without a token it says why, and by which decision")
    func refused() async throws {
        try await withTemporaryFolder { folder in
            try await ServerProcess.with { server in
                let result = try await run(server, debugToken: "11111111-2222-4333-8444-555555555555", in: folder)
                #expect(result.status == 1)
                #expect(result.output == "")
                #expect(result.errors.hasPrefix("orders-client: refused: "), "\(result.errors)")
                let decision = try #require(result.errors.firstRange(of: "Decision "))
                let words = result.errors[decision.upperBound...].prefix { $0 != "." }
                try await eventually("the log has the decision") { server.hasLogged(String(words)) }
            }
        }
    }

    @Test("Where the backend has other keys, the program ends with the backend's answer")
    func otherKeys() async throws {
        try await withTemporaryFolder { folder in
            try await ServerProcess.with { server in
                try await ServerProcess.with { other in
                    let result = try await run(server, keysOf: other, in: folder)
                    #expect(result.status == 1)
                    #expect(result.errors.contains("the backend answers 401"), "\(result.errors)")
                }
            }
        }
    }
}
