#if canImport(Darwin)
public import Foundation

/// The same for programs that make a `URLRequest`.
extension ProtectedCalls {
    /// Makes a value that calls backends by `URLSession`.
    ///
    /// - Parameter isProven: whether each request is sent with a proof that this device made it.
    public init(appCheck: AppCheck, token kind: TokenKind = .session, proving isProven: Bool = false) {
        self.init(appCheck: appCheck, transport: URLSessionTransport(), token: kind, proving: isProven)
    }

    /// Sends a request with a token, by the rules of ``send(_:)``, and returns the whole response, whatever its status.
    ///
    /// Of the request it takes the URL, the method, the header, the body and the timeout, which is for all of the
    /// response. Cookies and caches are not used. The URL of the response is the request's, also after a redirect.
    ///
    /// - Parameters:
    ///   - request: has its body as data: a stream cannot be sent twice.
    ///   - responseLimit: the most bytes that the body of the response may have.
    /// - Throws: `invalidConfiguration` for a request with a stream or without a URL; the errors of ``send(_:)``.
    public func data(
        for request: URLRequest, responseLimit: Int = 1 << 20
    ) async throws(AppCheckError) -> (Data, HTTPURLResponse) {
        guard let url = request.url, request.httpBodyStream == nil else {
            throw AppCheckError(
                .invalidConfiguration,
                "The request has no URL, or a stream as its body, which cannot be sent again. Set `httpBody`.")
        }
        let seconds = request.timeoutInterval
        let response = try await send(
            ClientRequest(
                method: request.httpMethod ?? "GET", url: url.absoluteString,
                headers: (request.allHTTPHeaderFields ?? [:]).map { ClientHeader($0.key, $0.value) },
                body: request.httpBody.map { Array($0) } ?? [],
                timeLimit: seconds > 0 && seconds < 86_400 ? .milliseconds(Int64(seconds * 1000)) : .minutes(24 * 60),
                responseLimit: responseLimit))
        let fields = Dictionary(response.headers.map { ($0.name, $0.value) }) { "\($0), \($1)" }
        guard
            let head = HTTPURLResponse(
                url: url, statusCode: response.status, httpVersion: nil, headerFields: fields)
        else {
            throw AppCheckError(.malformedReply, "The response has a header that is none.", status: response.status)
        }
        return (Data(response.body), head)
    }
}
#endif
