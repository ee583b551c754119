package import AssayCore
internal import AssayKit

/// The published description of a project's issuer, by which programs that verify JWTs find the key set (OpenID Connect Discovery
/// 1.0, section 4; RFC 8414, section 3).
///
/// It is served for issuers of one's own only: the standard issuer is Google's, at whose URL nobody else can answer.
package struct IssuerMetadata: Sendable {
    private let issuer: String
    /// The URL of the server, with a slash at its end: the issuer without the part that was asked for.
    private let server: String
    private let algorithms: [JSON]

    /// - Parameters:
    ///   - issuer: the `iss` of the project's tokens.
    ///   - path: the end of the issuer's path that was asked for. A proxy may have removed the beginning.
    ///   - keySet: the key set in force.
    ///
    /// Nil where the path is not one of the issuer, and for the standard issuer.
    package init?(of issuer: String, at path: String, keySet: JSON) {
        let bytes = Array(issuer.utf8)
        let slashes = bytes.indices.filter { bytes[$0] == UInt8(ascii: "/") }
        guard !issuer.starts(withExactly: ProjectSection.defaultIssuer), slashes.count > 2,
            String(decoding: bytes[slashes[2]...], as: UTF8.self).ends(withExactly: "/\(path)")
        else { return nil }
        self.issuer = issuer
        server = String(decoding: bytes.dropLast(path.utf8.count), as: UTF8.self)
        let names = (keySet["keys"]?.array ?? []).compactMap { $0["alg"]?.string }
        algorithms = Set(names.map { ExactText($0) }).map(\.string).sortedExactly().map { .string($0) }
    }

    /// - Parameter grant: the grant type of the server's token endpoint.
    package func json(grant: String) -> JSON {
        [
            "issuer": .string(issuer), "jwks_uri": .string(server + "v1/jwks"),
            "id_token_signing_alg_values_supported": .array(algorithms), "subject_types_supported": ["public"],
            "claims_supported": ["aud", "exp", "iat", "iss", "jti", "provider", "sub"],
            // Without an authorization endpoint no response type gives a token; an absent list would say `code`.
            "response_types_supported": ["none"], "token_endpoint": .string(server + "token"),
            "token_endpoint_auth_methods_supported": ["none"], "grant_types_supported": [.string(grant)],
        ]
    }
}

/// The method that publishes it.
extension IssuerMetadata {
    /// The variables of the path: at most two folders, and the project's number at the end.
    private static let variables = ["folder", "subfolder", "project"]

    /// OpenID Connect appends to the issuer's path, RFC 8414 puts its own part in front.
    package static let rules: [HTTPRule] = (0..<variables.count).reversed().flatMap { first in
        let path = variables[first...].map { "/{\($0)}" }.joined()
        return ["\(path)/.well-known/openid-configuration", "/.well-known/oauth-authorization-server\(path)"].map {
            HTTPRule(.get, $0, version: .v1)
        }
    }

    package static let request: MessageShape = [
        .optional("folder", .text), .optional("subfolder", .text), .required("project", .text),
    ]

    package static let reply: MessageShape = [
        .required("issuer", .text), .required("jwks_uri", .text),
        .required("id_token_signing_alg_values_supported", .list(.text, atMost: .max)),
        .required("subject_types_supported", .list(.text, atMost: .max)),
        .required("claims_supported", .list(.text, atMost: .max)),
        .required("response_types_supported", .list(.text, atMost: .max)), .required("token_endpoint", .text),
        .required("token_endpoint_auth_methods_supported", .list(.text, atMost: .max)),
        .required("grant_types_supported", .list(.text, atMost: .max)),
    ]

    /// The path that a request asks for, without a slash at its beginning; nil without a project.
    package static func path(_ fields: JSON) -> String? {
        guard let project = fields["project"]?.string else { return nil }
        return (variables.dropLast().compactMap { fields[$0]?.string } + [project]).joined(separator: "/")
    }
}
