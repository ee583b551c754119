internal import AssayKit

/// What Envoy asks, as a call.
struct AuthorizationQuestion {
    /// The key of `context_extensions` that names the backend.
    static let backend = "backend"

    let call: Call
    /// The names of the client's headers that a backend might take for findings.
    let claimed: Set<String>

    /// - Throws: ``UnreadableCheck`` when it is not about an HTTP request, or the request's headers cannot be read.
    init(
        _ request: Envoy_Service_Auth_V3_CheckRequest, method: String, limits: ExtAuthzLimits
    ) throws(UnreadableCheck) {
        let attributes = request.attributes
        guard attributes.request.hasHTTP else { throw UnreadableCheck("it is not about an HTTP request") }
        let http = attributes.request.http
        let headers = try CheckHeaders(http, limit: limits.headerFields)
        let verb = String(decoding: http.method, as: UTF8.self)
        let path = String(decoding: http.path, as: UTF8.self)
        var fields: [JSONMember] = []
        if let backend = attributes.contextExtensions[Self.backend] {
            fields.append(JSONMember("backend", .string(backend)))
        }
        if !verb.isEmpty { fields.append(JSONMember("method", .string(verb))) }
        if !path.isEmpty { fields.append(JSONMember("uri", .string(path))) }
        let peer = attributes.source.address.socketAddress.address
        call = Call(
            method, body: .object(fields), peer: peer.isEmpty || peer.utf8.count > 64 ? nil : peer,
            token: PresentedToken(headers.tokens, targets: [path]))
        claimed = headers.findings
    }
}
