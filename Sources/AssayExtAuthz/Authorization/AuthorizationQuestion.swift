internal import AssayCore
internal import AssayKit

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Envoy's question, as a call.
///
/// Lengths are checked first: no part of a check is longer than these.
struct AuthorizationQuestion {
    /// The key of `context_extensions` that names the backend.
    static let backend = "backend"
    /// Envoy's own name of the call.
    private static let route = "envoy.service.auth.v3.Authorization/Check"

    /// The longest HTTP method, in bytes.
    private static let methodLimit = 32
    /// The longest path with its query, in bytes: as long as a request's head may be over HTTP.
    private static let pathLimit = 16_384
    /// The longest name of a backend, in bytes.
    private static let backendLimit = 256
    /// The longest address of a peer, in bytes.
    private static let peerLimit = 64

    let call: Call
    /// The names of the client's headers that a backend might mistake for findings.
    let claimed: Set<ExactText>

    /// - Throws: ``UnreadableCheck`` when it is not about an HTTP request, or when a part of the request cannot be
    ///   read.
    init(
        _ request: Envoy_Service_Auth_V3_CheckRequest, method: DecidingMethod, limits: ExtAuthzLimits
    ) throws(UnreadableCheck) {
        let attributes = request.attributes
        guard attributes.request.hasHTTP else { throw UnreadableCheck("it is not about an HTTP request") }
        let http = attributes.request.http
        guard http.method.count <= Self.methodLimit, http.method.allSatisfy(Self.isOfToken) else {
            throw UnreadableCheck("the method is invalid")
        }
        guard http.path.count <= Self.pathLimit else {
            throw UnreadableCheck("the path is longer than \(Self.pathLimit) bytes")
        }
        let headers = try CheckHeaders(
            http, findings: method.findings, wanted: method.fields.headers, limit: limits.headerFields)
        let verb = String(decoding: http.method, as: UTF8.self)
        let path = String(decoding: http.path, as: UTF8.self)
        var fields: [JSONMember] = []
        if let backend = try Self.backend(attributes) {
            fields.append(JSONMember(method.fields.backend, .string(backend)))
        }
        if !verb.isEmpty { fields.append(JSONMember(method.fields.method, .string(verb))) }
        if !path.isEmpty { fields.append(JSONMember(method.fields.target, .string(path))) }
        fields += headers.members
        let peer = attributes.source.address.socketAddress.address
        let isAddress = (1...Self.peerLimit).contains(peer.utf8.count) && peer.isASCII
        call = Call(
            method.name, body: .object(fields), peer: isAddress ? peer : nil,
            token: PresentedToken(headers.tokens, targets: [path]), route: Self.route)
        claimed = headers.findings
    }

    private static func backend(
        _ attributes: Envoy_Service_Auth_V3_AttributeContext
    ) throws(UnreadableCheck) -> String? {
        guard let entry = attributes.contextExtensions.last(where: { $0.key.elementsEqual(backend.utf8) }) else {
            return nil
        }
        guard entry.value.count <= backendLimit, let name = String(validating: entry.value, as: UTF8.self) else {
            throw UnreadableCheck("the name of the backend is invalid")
        }
        return name
    }

    /// Whether a method may have a character (RFC 9110, section 5.6.2).
    private static func isOfToken(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}

/// The method that decides about requests, according to its descriptor.
struct DecidingMethod: Sendable {
    let name: String
    /// The fields of its request message.
    let fields: HTTPBinding.ProxiedRequest
    /// The headers that carry the findings to the backend.
    let findings: [HTTPBinding.Header]

    /// Finds the handler's method that accepts a token and decides about a proxied request.
    init(_ methods: [MethodDescriptor]) throws(ExtAuthzError) {
        let found = methods.filter { $0.takesToken && $0.binding.proxied != nil }
        guard let method = found.first, let fields = method.binding.proxied else {
            throw ExtAuthzError(.missingMethod, "no method decides about the requests of a proxy")
        }
        guard found.count == 1 else {
            let names = found.map(\.name).joined(separator: ", ")
            throw ExtAuthzError(
                .severalMethods, "several methods decide about the requests of a proxy: \(names)")
        }
        name = method.name
        self.fields = fields
        findings = method.binding.replyHeaders ?? []
    }
}

/// A check that cannot be answered.
struct UnreadableCheck: Error, CustomStringConvertible {
    /// What is wrong, for an operator.
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
