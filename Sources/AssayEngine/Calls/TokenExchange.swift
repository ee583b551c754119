package import AssayCore
internal import AssayKit

/// Token exchange (RFC 8693): `POST /token` exchanges an App Check token for a consumer's token.
///
/// `subject_token` is the App Check token; `audience` or `resource` chooses the consumer; `actor_token` is a user's JWT.
package enum TokenExchange {
    static let grant = "urn:ietf:params:oauth:grant-type:token-exchange"

    package static let method: MethodDescriptor = {
        var descriptor = MethodDescriptor(
            name: "exchangeToken", kind: .call(nil), resources: [],
            rules: [HTTPRule(.post, "/token", version: .v1)]
        ).with(request: shape, reply: reply)
        descriptor.binding = .oauth
        return descriptor
    }()

    private static let shape = MessageShape([
        .required("grantType", .choice([grant])), .required("subjectToken", .text),
        .required("subjectTokenType", .choice(subjectTypes.map(\.uri).sortedExactly())),
        .optional("actorToken", .text), .optional("actorTokenType", .choice(actorTypes.map(\.uri).sortedExactly())),
        .optional("audience", .list(.text, atMost: limit)), .optional("resource", .list(.text, atMost: limit)),
        .optional("scope", .text), .optional("requestedTokenType", .text),
    ])
    private static let reply = MessageShape(
        [
            .required("access_token", .text), .required("issued_token_type", .text), .required("token_type", .text),
            .required("expires_in", .integer(0...Int64(Int32.max))),
        ], isOpen: true)

    /// The lifetimes that an issued token may have.
    static let lifetimes = Duration.seconds(1)...Duration.seconds(Int64(Int32.max))
    /// The most audiences, resources and scopes of one request.
    package static let limit = 64
    private static let subjectTypes: Set<TokenType> = [.jwt, .accessToken]
    private static let actorTypes: Set<TokenType> = [.jwt, .accessToken, .idToken]

    /// A request that has been read.
    struct Request: Sendable {
        let subject: PresentedToken
        let actor: String?
        let audiences: [String]
        let resources: [String]
        let scopes: [String]
        let requestedType: TokenType?

        /// - Throws: `CallFailure` with the errors of RFC 6749, section 5.2, and RFC 8693, section 2.2.2.
        init(_ fields: RequestFields) throws {
            guard try fields.string("grantType").isExactly(grant) else {
                throw CallFailure(
                    .invalidArgument, "The grant type is not supported: expected \(grant).",
                    oauthError: "unsupported_grant_type")
            }
            guard let subject = PresentedToken([try fields.string("subjectToken")]) else {
                throw InvalidRequest("the field 'subject_token' is missing")
            }
            self.subject = subject
            guard subjectTypes.contains(TokenType(try fields.string("subjectTokenType"))) else {
                throw InvalidRequest("the field 'subject_token_type' must be that of a JWT: \(TokenType.jwt.uri)")
            }
            actor = try fields.optionalString("actorToken")
            let actorType = try fields.optionalString("actorTokenType")
            guard actor.isNil == actorType.isNil else {
                throw InvalidRequest("'actor_token' and 'actor_token_type' must be sent together")
            }
            guard actorType.map({ actorTypes.contains(TokenType($0)) }) ?? true else {
                throw InvalidRequest("the field 'actor_token_type' must be that of a JWT")
            }
            audiences = try fields.strings("audience").filter { !$0.isEmpty }
            resources = try fields.strings("resource").filter { !$0.isEmpty }
            scopes =
                try fields.optionalString("scope")?.split(onASCII: " ", maxSplits: 4096).filter { !$0.isEmpty }.map(
                    String.init) ?? []
            guard max(audiences.count, resources.count, scopes.count) <= limit else {
                throw InvalidRequest("at most \(limit) audiences, resources and scopes can be named")
            }
            requestedType = try fields.optionalString("requestedTokenType").map { TokenType($0) }
        }
    }
}

extension ConsumerCall {
    /// Exchanges a token.
    func exchange() async -> CallOutcome {
        do {
            let fields = try RequestFields(scope.call.body, bytesLimit: 32 * 1024)
            let request = try TokenExchange.Request(fields)
            let (consumer, audience) = try target(request)
            return await exchange(request, fields, by: consumer, audience: audience).about(consumer)
        } catch {
            return .ended(by: error)
        }
    }

    private func exchange(
        _ request: TokenExchange.Request, _ fields: RequestFields, by consumer: ConsumerBinding, audience: String
    ) async -> CallOutcome {
        do {
            guard let exchange = consumer.instance.exchange else { throw CallFailure.absentTarget() }
            let prepared = TokenExchangeRequest(
                audience: audience, resources: request.resources, scopes: request.scopes,
                requestedType: request.requestedType, fields: fields)
            let actor = try request.actor.map { text in
                // A user's token that is not verified must not be accepted as valid.
                guard let token = BearerToken(text), !consumer.actors.isEmpty else {
                    throw CallFailure(
                        actor: consumer.actors.isEmpty
                            ? KernelReasons.actorIssuerUnknown : KernelReasons.actorMalformed)
                }
                return token
            }
            return await redeem(
                Redemption(
                    consumer: consumer, token: request.subject, actor: actor, demand: consumer.exchangeDemand,
                    service: audience,
                    isLimited: true, answer: .exchange(prepared, exchange)))
        } catch {
            return .ended(by: error)
        }
    }

    private static func unknownTarget(_ field: String, _ text: String) -> CallFailure {
        CallFailure.absentTarget("no consumer has the \(field) '\(SafeText.asked(text))'")
    }

    /// The consumer that the audience of a request names or, without one, its first resource.
    private func target(_ request: TokenExchange.Request) throws -> (ConsumerBinding, String) {
        let known = scope.snapshot.policies.consumers.byAudience
        guard request.audiences.count <= 1 else {
            throw CallFailure(.invalidArgument, "A token has only one audience.", oauthError: "invalid_target")
        }
        if let audience = request.audiences.first {
            guard let found = known[audience] else { throw ConsumerCall.unknownTarget("audience", audience) }
            return (try choose(found, request.subject), audience)
        }
        guard let resource = request.resources.first else {
            throw CallFailure(.invalidArgument, "The field 'audience' or 'resource' is missing.")
        }
        // A resource is an audience, or is below one that is a URL. The longest audience counts.
        guard resource.utf8.count <= 2048,
            let audience = scope.snapshot.policies.consumers.audiences.longest(above: resource),
            let found = known[audience]
        else { throw ConsumerCall.unknownTarget("resource", resource) }
        return (try choose(found, request.subject), audience)
    }

    /// Of the instances that share an audience, the one of the token's project.
    private func choose(_ consumers: [ConsumerBinding], _ token: PresentedToken) throws -> ConsumerBinding {
        guard let first = consumers.first else { throw CallFailure.absentTarget() }
        guard consumers.count > 1 else { return first }
        let project = try tokenProject(token)
        guard let consumer = consumers.first(where: { $0.project === project }) else {
            throw CallFailure.absentTarget()
        }
        return consumer
    }
}
