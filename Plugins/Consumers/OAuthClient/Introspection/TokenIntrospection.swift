public import AssayCore
internal import AssayKit

/// Says what a token is (RFC 7662), and uses none up.
///
/// A token that was consumed anywhere is not active.
struct TokenIntrospection: Sendable {
    private let demand: TokenDemand

    /// The longest token that is looked at, in bytes.
    private static let limit = 16 * 1024
    private static let inactive: JSON = ["active": false]

    /// - Parameter tokens: what the section demands of tokens, unless its part says otherwise.
    init(_ configuration: IntrospectionConfiguration, under tokens: TokenDemand) {
        demand = TokenDemand(
            acceptsOAuthClients: true, acceptsDevelopment: configuration.acceptsDevelopment ?? tokens.acceptsDevelopment
        )
    }

    /// The description of a token; `{"active":false}` for any invalid one.
    ///
    /// - Parameter attestation: the claims of a token that is an attestation of this project's attester; nil for
    ///   others.
    /// - Throws: when that cannot be decided now.
    func introspect(
        _ token: String, attestation: (String) -> JSON?, names: ClientNames, _ context: ConsumerContext
    ) async throws -> ConsumerReply {
        guard token.utf8.count <= TokenIntrospection.limit else {
            return reply(TokenIntrospection.inactive, "too_large")
        }
        if let claims = attestation(token) { return introspect(attestation: claims, names: names, context) }
        switch try await context.tokens.look(at: token, demand) {
        case .refused(let reason): return reply(TokenIntrospection.inactive, reason.code)
        case .good(let token, let app):
            var members = [
                JSONMember("active", true), JSONMember("token_type", "Bearer"),
                JSONMember("iss", .string(token.issuer)), JSONMember("sub", .string(token.subject)),
                JSONMember("aud", .array(token.audience.map { .string($0) })),
                JSONMember("exp", .integer(token.expires.seconds)), JSONMember("iat", .integer(token.issued.seconds)),
                JSONMember("jti", .string(token.id)),
            ]
            if let client = names.client(of: app) { members.append(JSONMember("client_id", .string(client))) }
            if let provider = token.provider { members.append(JSONMember("provider", .string(provider))) }
            return reply(.object(members), "active")
        }
    }

    private func introspect(
        attestation claims: JSON, names: ClientNames, _ context: ConsumerContext
    ) -> ConsumerReply {
        guard (claims[ClientAttestation.projectClaim]?.string).isExactly("projects/\(context.project.number)"),
            let expires = claims["exp"]?.integer, context.now < Instant(seconds: expires),
            let subject = claims["sub"]?.string, names.all.contains(subject), let confirmation = claims["cnf"]
        else { return reply(TokenIntrospection.inactive, "attestation_inactive") }
        var members = [
            JSONMember("active", true), JSONMember("token_type", "N_A"), JSONMember("sub", .string(subject)),
            JSONMember("client_id", .string(subject)), JSONMember("exp", .integer(expires)),
            JSONMember("cnf", confirmation),
        ]
        for name in ["iss", "iat"] {
            if let value = claims[name] { members.append(JSONMember(name, value)) }
        }
        return reply(.object(members), "active")
    }

    private func reply(_ message: JSON, _ finding: String) -> ConsumerReply {
        ConsumerReply(message, facts: [Fact(.introspected, cutting: finding)])
    }
}

/// A caller's question about a token (RFC 7662, section 2.1).
///
/// `audience` is beyond that RFC: one of the section's audiences, such as an authorization server, where the token does
/// not tell which section is meant.
struct IntrospectionRequest: RequestMessage {
    static let shape: MessageShape? = [
        .required("token", .text), .optional("tokenTypeHint", .text), .optional("audience", .text),
    ]

    let token: String

    init(_ fields: RequestFields) throws(InvalidRequest) {
        token = try fields.string("token")
    }
}

/// The part `introspection`: which tokens are active.
public struct IntrospectionConfiguration: Decodable, Sendable {
    /// Whether tokens of providers for development are active; as in the section's `tokens` when absent.
    public let acceptsDevelopment: Bool?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case acceptsDevelopment = "accept_development"
    }
}

extension IntrospectionConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "accept_development": PolicyKey(
            """
            Whether tokens of providers for development are active, such as debug tokens. When absent, as in the \
            section's `tokens`.
            """, development: .words(["true"]))
    ]
}
