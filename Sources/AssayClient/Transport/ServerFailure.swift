extension ClientTransport {
    /// Sends a request, and holds the transport to the response limit.
    func deliver(_ request: ClientRequest) async throws(AppCheckError) -> ClientResponse {
        let response: ClientResponse
        do {
            response = try await send(request)
        } catch let error as AppCheckError {
            throw error
        } catch is ResponseTooLong {
            throw Self.tooLong(request)
        } catch {
            throw AppCheckError(
                .unreachable, "The server gave no whole response. Check the connection; the next call tries again.",
                cause: error)
        }
        guard response.body.count <= request.responseLimit else { throw Self.tooLong(request, response.status) }
        return response
    }

    private static func tooLong(_ request: ClientRequest, _ status: Int? = nil) -> AppCheckError {
        AppCheckError(
            .malformedReply, "The response has more than \(request.responseLimit) bytes, or a header without end.",
            status: status)
    }
}

extension AppCheckError {
    /// What a response other than a success means.
    ///
    /// - Parameters:
    ///   - method: what was called.
    ///   - subject: what it was called for.
    init(_ response: ClientResponse, of method: String, for subject: String) {
        let body = JSONValue.read(response.body)
        let error = body?["error"]
        let (code, words) = Self.meaning(of: response, error, method, subject)
        self.init(
            code, words + Self.said(in: body), decision: Self.decision(of: response, error), status: response.status,
            retryAfter: Self.retryAfter(of: response))
    }

    /// What the server says in words, in the form of Google's APIs or of OAuth (RFC 6749, section 5.2): a sentence to append.
    static func said(in body: JSONValue?) -> String {
        let text = body?["error"]?["message"]?.text ?? body?["error_description"]?.text
        return text.map { " The server says: \(ShownText.of($0))" } ?? ""
    }

    /// OAuth's codes for what a policy refuses, rather than for a request that is malformed (RFC 6749, RFC 8693).
    private static let refusals = [
        "access_denied", "invalid_grant", "invalid_scope", "invalid_target", "unauthorized_client",
    ]

    /// Whether the server decided, and its policy is why.
    private static func isRefusal(_ response: ClientResponse, _ error: JSONValue?) -> Bool {
        if response.status == 403 || response.refusesToken { return true }
        guard response.status == 400, let code = error?.text else { return false }
        return refusals.contains { $0.sameBytes(as: code) }
    }

    private static func meaning(
        of response: ClientResponse, _ error: JSONValue?, _ method: String, _ subject: String
    ) -> (Code, String) {
        if isRefusal(response, error) {
            return (
                .refused,
                "The server refused \(method) for \(subject). Its operator learns why by `assay decisions show` with the "
                    + "identifier of the decision."
            )
        }
        return switch response.status {
        case 300...399:
            (
                .redirected,
                "The server redirects \(method), which is not followed: evidence and tokens go to `endpoint` only. "
                    + "Use the address that it names."
            )
        case 400 where error?["status"]?.text?.sameBytes(as: "FAILED_PRECONDITION") == true, 404:
            (
                .notConfigured,
                "The server has not set up \(method) for \(subject). Check `app`, and what the server's policy has for it."
            )
        case 401:
            (.rejected, "The server wants other credentials for \(method). Check the user's token, if it wants one.")
        case 408, 425: (.unavailable, "The server did not take \(method) in time. The next call tries again.")
        case 429: (.throttled, "The server asks for fewer requests. Use the cached token: do not force a refresh.")
        case 400...499:
            (.rejected, "The server rejected \(method) as malformed. Check the versions of the library and the server.")
        case 500...599: (.unavailable, "The server cannot decide now. The library tries again after a pause.")
        default: (.malformedReply, "The server answers \(method) with a status that is no answer.")
        }
    }

    /// The identifier of the decision, from the details of the error or the header.
    private static func decision(of response: ClientResponse, _ error: JSONValue?) -> String? {
        let detail = error?["details"]?.elements?.first { detail in
            detail["@type"]?.text?.sameBytes(as: "type.googleapis.com/google.rpc.RequestInfo") == true
        }
        let text = detail?["requestId"]?.text ?? response.header("x-assay-decision")
        guard let text, (1...128).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        return text
    }

    /// How long the server wants to be left alone (RFC 9110, section 10.2.3), where its status says so.
    private static func retryAfter(of response: ClientResponse) -> Interval? {
        guard [429, 503].contains(response.status), let text = response.header("retry-after") else { return nil }
        if (1...9).contains(text.utf8.count), text.utf8.allSatisfy(\.isDecimal), let seconds = Int64(text) {
            return .seconds(seconds)
        }
        // A date is compared with the server's own: the device's clock may be wrong.
        guard let then = HTTPDateText.seconds(text), let now = response.header("date").flatMap(HTTPDateText.seconds)
        else {
            return nil
        }
        return then > now ? .seconds(then - now) : .seconds(1)
    }
}
