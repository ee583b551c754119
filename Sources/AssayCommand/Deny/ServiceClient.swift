internal import ArgumentParser
internal import AssayCore
internal import AssayHTTPClient
internal import AssayServer

/// Which running server a command calls, and as whom.
struct ServiceOptions: ParsableArguments {
    @Option(
        help: "The server: https://host, or http:// for this machine alone. (default: http://127.0.0.1:8080)",
        valueName: "url", reading: .url("https://host"))
    var endpoint: EndpointURL?

    @OptionGroup
    var authorities: AuthorityOptions

    @Option(
        help:
            "Where the caller's bearer token is stored: file:PATH or env:NAME. It is never an argument, which other users could see.",
        valueName: "reference", reading: .secret)
    var callerToken = SecretReference(.environment("ASSAY_TOKEN"))

    private static let standard = EndpointURL("http://127.0.0.1:8080")

    /// Calls methods of the server.
    ///
    /// - Throws: ``ServiceError``; `SecretError` for the file of authorities; what `body` throws.
    func with<Value: Sendable>(_ body: (ServiceClient) async throws -> Value) async throws -> Value {
        guard let endpoint = endpoint ?? ServiceOptions.standard else { throw ServiceError("the server is unknown") }
        let secret: [UInt8]?
        do throws(SecretError) {
            secret = try SecretSource.system.resolve(callerToken)
        } catch {
            throw ServiceError(error.message)
        }
        guard let secret else { throw ServiceError("\(callerToken) is not set: it has the caller's bearer token") }
        guard let token = String(validating: secret, as: UTF8.self), BearerToken(token) != nil else {
            throw ServiceError("\(callerToken) holds no bearer token")
        }
        let client = try HTTPClientService(authorities.clientOptions())
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(ServiceClient(endpoint: endpoint, token: token, http: client)))
        } catch {
            result = .failure(error)
        }
        await client.shutDown()
        return try result.get()
    }
}

/// Calls methods of a running server, as a caller of its policies.
struct ServiceClient: Sendable {
    let endpoint: EndpointURL
    let token: String
    let http: any OutboundHTTP

    /// - Parameters:
    ///   - path: with its query, escaped.
    ///   - body: the request message; nil for none.
    /// - Throws: ``ServiceError`` with the server's words; `OutboundFailure` when nothing answers.
    func call(_ method: OutboundRequest.Method, _ path: String, _ body: JSON? = nil) async throws -> JSON {
        guard let url = EndpointURL("\(endpoint)\(path)") else { throw ServiceError("\(endpoint): cannot be called") }
        var headers = [OutboundHeader("Authorization", "Bearer \(token)")]
        if body != nil { headers.append(OutboundHeader("Content-Type", "application/json")) }
        let response = try await http.send(
            OutboundRequest(method, url, headers: headers, body: body?.encoded ?? [], responseLimit: 4 << 20))
        let json = try? JSON.parse(response.body)
        guard response.status == 200, let json else {
            let message = json?["error"]?["message"]?.string.map { ": \(SafeLine.of($0, limit: 16_384))" } ?? ""
            let decision = response.header("x-assay-decision").map { " (decision \(SafeLine.of($0)))" } ?? ""
            throw ServiceError("\(endpoint): status \(response.status)\(message)\(decision)")
        }
        return json
    }
}

/// Why a call of a running server failed.
struct ServiceError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
