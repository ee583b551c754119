internal import AssayCore
internal import AssayPolicy

/// What one request for a bundle gave.
enum BundleDownload: Sendable {
    case bundle([UInt8], etag: String?)
    case unchanged
    case failed(String)

    /// Why there is none.
    var failure: String? {
        if case .failed(let text) = self { text } else { nil }
    }

    private static let etagLimit = 1024

    /// Asks for the bundle.
    ///
    /// - Parameter etag: the validator of what is there already.
    /// - Returns: nil when the service ends.
    static func get(
        _ options: PolicyBundleOptions, etag: String?, through http: any OutboundHTTP
    ) async -> BundleDownload? {
        var request = OutboundRequest(
            .get, options.url, headers: [OutboundHeader("Accept", "application/jose, */*;q=0.1")],
            timeLimit: options.timeLimit, responseLimit: PolicyBundle.byteLimit)
        if let etag { request.headers.append(OutboundHeader("If-None-Match", etag)) }
        do throws(OutboundFailure) {
            let response = try await http.send(request)
            switch response.status {
            case 200: return .bundle(response.body, etag: response.header("etag").flatMap(validator))
            case 304 where !etag.isNil: return .unchanged
            default: return .failed("status \(response.status): \(advice(for: response.status))")
            }
        } catch {
            switch error.code {
            case .cancelled, .closed: return nil
            case .tlsRefused: return .failed(error.detail)
            case .tooLarge: return .failed(tooLarge(error.detail))
            default: return .failed("\(error.detail): is the server running, and can this machine reach it?")
            }
        }
    }

    /// What to do about a response that is too large: for a bundle, or for a client that takes less.
    private static func tooLarge(_ detail: String) -> String {
        let most = PolicyBundle.byteLimit
        // A client says which limit was reached, the request's or its own: "… more than 4194304 bytes".
        let limit = detail.split(onASCII: " ").dropLast().last.flatMap { Int($0) }
        guard let limit, limit < most else { return "\(detail), more than a bundle may have: is this the right URL?" }
        return "\(detail), which is the limit of the HTTP client; a bundle may have \(most) bytes: if this is the "
            + "right URL, give the client more with HTTPClientOptions(responseBytes:)"
    }

    /// A validator that can be sent back as it came (RFC 9110, section 8.8.3).
    private static func validator(_ text: String) -> String? {
        text.utf8.count <= etagLimit && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? text : nil
    }

    private static func advice(for status: Int) -> String {
        switch status {
        case 300..<400 where status != 304: "redirects are not followed; use the URL that it leads to"
        case 401, 403, 407: "the server demands credentials, and none are sent; let this machine read the bundle"
        case 404, 410: "there is no bundle at this URL; upload it, or correct the URL"
        case 429, 500...: "the server cannot answer now; it is asked again"
        default: "expected 200; is this the URL of a bundle?"
        }
    }
}
