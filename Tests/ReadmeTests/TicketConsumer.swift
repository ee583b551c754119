import AssayCore
import AssayKit

struct TicketConsumer: TokenConsumer {
    struct Configuration: Decodable, Sendable { let desk: String }

    static let nobody = Reason("ticket_nobody", "The request names no user.")
    static let descriptor = PluginDescriptor.consumer(
        name: "ticket", summary: "Tickets for a help desk.", reasons: [nobody],
        tokenTypes: ["ticket+jwt"])
    static let methods: [ConsumerMethod<TicketConsumer>] = [
        .exchange { consumer, request, context in
            guard let user = context.actor else { return .refused(nobody) }
            let claims: JSON = [
                "iss": .string(consumer.issuer), "aud": .string(request.audience), "sub": .string(user.subject),
                "exp": .integer(context.now.seconds + 600),
            ]
            let ticket = try context.tokens.sign(type: "ticket+jwt", claims: claims)
            return .granted(ExchangedToken(ticket, lifetime: .seconds(600)))
        },
        .redeem("openTicket", [HTTPRule(.post, "/tickets", version: .v1)], selection: .tokenProject) {
            (consumer, request: TicketRequest) in
            var demand = consumer.tokens
            if request.isUrgent { demand.requiresLimitedUse = true }
            return PreparedRequest(demand: demand) { context in
                .granted(ConsumerReply(["ticket": .string(context.decision.text)]))
            }
        },
    ]

    let audiences: [String]
    private let issuer: String
    private let tokens: TokenDemand

    init(_ configuration: Configuration, scope: ConsumerScope, host: PluginHost) throws(ConfigurationError) {
        audiences = [configuration.desk]
        issuer = scope.issuer
        tokens = scope.tokens
    }
}

struct TicketRequest: RequestMessage {
    let isUrgent: Bool

    init(_ fields: RequestFields) throws(InvalidRequest) {
        isUrgent = try fields.bool("urgent")
    }
}
