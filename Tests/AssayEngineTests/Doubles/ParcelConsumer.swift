import AssayCore
import AssayKit

/// A consumer that hands out parcels, for tests of what the kernel does for consumers.
struct ParcelConsumer: TokenConsumer {
    struct Configuration: Decodable, Sendable {
        let audience: String
        let weight: Int?
    }

    /// What a request wants to happen, beside an ordinary answer.
    struct Request: RequestMessage {
        let audience: String?
        let wish: String?
        let token: String?

        init(_ fields: RequestFields) throws(InvalidRequest) {
            audience = try fields.optionalString("audience")
            wish = try fields.optionalString("wish")
            token = try fields.optionalString("token")
        }

        func demand(_ consumer: ParcelConsumer) -> TokenDemand {
            var demand = consumer.tokens
            if wish == "once" { demand.replayProtection = .enforced }
            return demand
        }
    }

    struct Lost: Error {}

    static let tooHeavy = Reason("parcel_too_heavy", "The parcel is too heavy.")
    static let weight = FactName("parcel_weight", .integer)

    static let descriptor = PluginDescriptor.consumer(
        name: "parcel", summary: "Parcels.", reasons: [tooHeavy], facts: [weight],
        limits: PluginLimits(tokenLifetime: .seconds(3600)), tokenTypes: ["parcel+jwt"])

    static let methods: [ConsumerMethod<ParcelConsumer>] = [
        .exchange { consumer, request, context in
            switch try consumer.decide(request.scopes.first) {
            case .refused(let reason, let detail, let facts): .refused(reason, detail: detail, facts: facts)
            case .granted(let reply):
                .granted(
                    ExchangedToken(
                        "parcel of \(context.token?.subject ?? "nobody") for \(context.actor?.subject ?? "nobody")",
                        use: "N_A", lifetime: .seconds(600),
                        fields: request.scopes.first == "field" ? [ReplyField("expires_in", 1)] : [],
                        facts: reply.facts))
            }
        },
        .redeem("openParcel", [HTTPRule(.get, "/parcels/{wish}", version: .v1)], selection: .tokenProject) {
            (consumer, request: Request) in
            PreparedRequest(facts: ParcelConsumer.facts(of: request)) { context in
                try consumer.decide(request.wish, context)
            }
        },
        .redeem(
            "weighParcel", [HTTPRule(.any, "/weigh", version: .v1)], selection: .audience("audience"),
            allowsUnenforced: true
        ) { (consumer, request: Request) in
            PreparedRequest(demand: request.demand(consumer)) { try consumer.decide(request.wish, $0) }
        },
        // The same again, with answers that never wait.
        .redeem("openParcelAtOnce", [HTTPRule(.get, "/now/parcels/{wish}", version: .v1)], selection: .tokenProject) {
            (consumer, request: Request) in
            .immediate { context in try consumer.decide(request.wish, context) }
        },
        .redeem(
            "weighParcelAtOnce", [HTTPRule(.any, "/now/weigh", version: .v1)], selection: .audience("audience"),
            allowsUnenforced: true
        ) { (consumer, request: Request) in
            .immediate(demand: request.demand(consumer)) { try consumer.decide(request.wish, $0) }
        },
        .call(
            "lookIntoParcel", [HTTPRule(.post, "/look", version: .v1)], permission: Permission("parcels.look"),
            selection: .audience("audience")
        ) { (consumer, request: Request, context) in
            let text = request.token ?? ""
            if let own = context.tokens.own(text) {
                return .granted(ConsumerReply(["type": .string(own.type), "claims": own.claims]))
            }
            switch try await context.tokens.inspect(
                text, TokenDemand(replayProtection: request.wish == "once" ? .enforced : .off))
            {
            case .good(let token, _): return .granted(ConsumerReply(["sub": .string(token.subject)]))
            case .refused(let reason): return .granted(ConsumerReply(["reason": .string(reason.code)]))
            }
        },
    ]

    /// What a request claims, well typed or not.
    private static func facts(of request: Request) -> [Fact] {
        switch request.wish {
        case "claims": [Fact(weight, .text("x")), Fact(weight, .integer(7))]
        case "odd claims": [Fact("parcel_colour", .text("red"))]
        default: []
        }
    }

    let audiences: [String]
    private let tokens: TokenDemand

    init(_ configuration: Configuration, scope: ConsumerScope, host: PluginHost) throws(ConfigurationError) {
        guard configuration.weight ?? 1 > 0 else {
            throw ConfigurationError(at: ["weight"], "expected a weight above zero")
        }
        audiences = [configuration.audience]
        tokens = scope.tokens
    }

    private func decide(_ wish: String?, _ context: ConsumerContext? = nil) throws -> ConsumerVerdict {
        switch wish {
        case "heavy": .refused(Self.tooHeavy, detail: "9 tons")
        case "heavier":
            .refused(
                Self.tooHeavy, detail: "10 tons",
                facts: [Fact(Self.weight, .integer(10)), Fact(Self.weight, .text("x"))])
        case "undeclared": .refused(Reason("parcel_odd", "It is odd."))
        case "fact": .granted(ConsumerReply([:], facts: [Fact("parcel_colour", .text("red"))]))
        case "lost": throw Lost()
        case "signed":
            .granted(
                ConsumerReply([
                    "token": .string(
                        try context.map { context in
                            try context.tokens.sign(
                                type: "parcel+jwt", claims: ["exp": .integer(context.now.seconds + 3600), "parcel": 1])
                        } ?? "")
                ]))
        case "endless":
            .granted(
                ConsumerReply([
                    "token": .string(try context?.tokens.sign(type: "parcel+jwt", claims: ["parcel": 1]) ?? "")
                ]))
        case "late":
            .granted(
                ConsumerReply([
                    "token": .string(
                        try context.map { context in
                            try context.tokens.sign(
                                type: "parcel+jwt", claims: ["exp": .integer(context.now.seconds + 3601)])
                        } ?? "")
                ]))
        case "forged":
            .granted(ConsumerReply(["token": .string(try context?.tokens.sign(type: "JWT", claims: [:]) ?? "")]))
        default:
            .granted(
                ConsumerReply(
                    [
                        "app": .string(context?.app?.subject ?? "nobody"),
                        "actor": .string(context?.actor?.subject ?? "nobody"),
                        "unenforced": .string(context?.unenforced?.code ?? ""),
                        "consumes": .bool(context?.consumesToken ?? false),
                    ], facts: [Fact(Self.weight, .integer(3))]))
        }
    }
}
