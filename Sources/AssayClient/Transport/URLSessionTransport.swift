#if canImport(Darwin)
internal import Foundation

/// Sends requests by `URLSession`: without cookies, cache and redirects.
public struct URLSessionTransport: ClientTransport {
    private let session: URLSession

    /// Makes a transport with a session of its own.
    public init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        session = URLSession(configuration: configuration)
    }

    /// Sends a request, and reads the response until its limit.
    public func send(_ request: ClientRequest) async throws -> ClientResponse {
        guard let url = URL(string: request.url) else { throw URLError(.badURL) }
        let limit = Double(request.timeLimit.nanoseconds) / 1_000_000_000
        var message = URLRequest(url: url, timeoutInterval: limit)
        message.httpMethod = request.method
        for header in request.headers { message.addValue(header.value, forHTTPHeaderField: header.name) }
        if !request.body.isEmpty { message.httpBody = Data(request.body) }
        let sent = message
        // The session's own limit begins again with each byte.
        return try await withThrowingTaskGroup(of: ClientResponse.self) { group in
            group.addTask { try await receive(sent, limit: request.responseLimit) }
            group.addTask {
                try await Task.sleep(nanoseconds: UInt64(max(request.timeLimit.nanoseconds, 0)))
                throw URLError(.timedOut)
            }
            defer { group.cancelAll() }
            guard let response = try await group.next() else { throw URLError(.unknown) }
            return response
        }
    }

    private func receive(_ message: URLRequest, limit: Int) async throws -> ClientResponse {
        let (bytes, response) = try await session.bytes(for: message, delegate: NoRedirects())
        guard let head = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        var body: [UInt8] = []
        for try await byte in bytes {
            guard body.count < limit else { throw ResponseTooLong() }
            body.append(byte)
        }
        let headers = head.allHeaderFields.compactMap { name, value -> ClientHeader? in
            guard let name = name as? String, let value = value as? String else { return nil }
            return ClientHeader(name, value)
        }
        return ClientResponse(status: head.statusCode, headers: headers, body: body)
    }
}

private final class NoRedirects: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
#endif
