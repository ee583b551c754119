internal import AssayCore
internal import AssayYAML

/// The sections that the loader reads, as JSON Schema.
extension PolicySchema {
    var tokens: [JSONMember] {
        [JSONMember("description", "How tokens are signed. The section may be in one file only.")]
            + ShapeSchema.object([
                JSONMember(
                    "algorithm",
                    [
                        "description": "The signature's algorithm. The Firebase Admin SDKs verify RS256 only.",
                        "enum": .array(TokenPolicy.Algorithm.allCases.map { .string($0.rawValue) }),
                        "default": .string(TokenPolicy().algorithm.rawValue),
                    ]),
                JSONMember(
                    "rsa_bits",
                    [
                        "description": "The size of RSA keys, with RS256 only.", "enum": [2048, 3072],
                        "default": .integer(Int64(TokenPolicy().rsaBits)),
                    ]),
            ])
    }

    var callers: [JSONMember] {
        [
            JSONMember(
                "description", "The callers of methods that demand a permission, by their names in audit records."),
            JSONMember("type", ["object", "null"]),
            JSONMember("propertyNames", ["pattern": "^[A-Za-z0-9._@-]{1,64}$"]),
            JSONMember("additionalProperties", ["$ref": "#/$defs/caller"]),
        ]
    }

    var callerEntry: [JSONMember] {
        var description: PolicyKey?
        if case .mapping(let shape) = caller { description = shape.descriptions["permissions"] }
        let granted: JSON = [
            "description": .string(description?.text ?? ""), "type": "array", "minItems": 1,
            "items": ["enum": .array(permissions.map { .string($0) })],
        ]
        return ShapeSchema.members(of: caller, overriding: ["permissions": granted])
    }

    var project: [JSONMember] {
        ShapeSchema.object(
            [
                JSONMember(
                    "number",
                    [
                        "description": "The project's number, which tokens name as their issuer.",
                        "type": ["integer", "string"], "pattern": "^[1-9][0-9]{0,19}$", "minimum": 1,
                        "examples": [1_234_567_890],
                    ]),
                text(
                    "id", "The project's ID, which clients may use instead of the number.",
                    "^(?=.*[^0-9])[A-Za-z0-9.:-]{1,63}$", example: "example-project"),
                JSONMember(
                    "issuer",
                    [
                        "description":
                            """
                        The text before the project's number in a token's `iss`. Unmodified Admin SDKs accept only the \
                        standard.
                        """,
                        "type": "string", "pattern": "^https://[!-~]+/$", "maxLength": 255,
                        "default": "https://firebaseappcheck.googleapis.com/",
                    ]),
                reference("verification", to: "verification", "What `verifyAppCheckToken` accepts."),
                JSONMember("services", .object(services)),
                reference("consumers", to: "consumers", "The consumers of the project's tokens."),
                list("apps", of: "app", "The project's apps."),
                list(
                    "oauth_clients", of: "oauth_client",
                    "The project's OAuth clients of Google Sign-In's kind, each linked to one of its apps."),
            ], required: ["number", "id"])
    }

    var verification: [JSONMember] {
        ShapeSchema.object([
            acceptsDevelopment,
            consumption(
                """
                Which uses of a token count for `verifyAppCheckToken`: `shared`, uses everywhere, so that a \
                limited-use token is valid once in all places together; `separate`, only its own calls, as in Google's \
                service.
                """),
        ])
    }

    private var services: [JSONMember] {
        let google = ServicePolicy.googleServices.sortedExactly()
            .map { $0.replacing(".", with: "\\.") }.joined(separator: "|")
        return [
            JSONMember(
                "description",
                "The levels of protection of services, by their names: those of Google's App Check, and your own."),
            JSONMember("type", ["object", "null"]),
            JSONMember(
                "propertyNames",
                ["pattern": .string("^(\(google)|(?!.*\\.googleapis\\.com$)[A-Za-z0-9._-]{1,100})$")]),
            JSONMember("additionalProperties", ["$ref": "#/$defs/service"]),
        ]
    }

    var service: [JSONMember] {
        let modes = JSON.array(EnforcementMode.allCases.map { .string($0.rawValue) })
        return ShapeSchema.object([
            JSONMember(
                "enforcement",
                [
                    "description": "Whether requests without a valid token are allowed, counted, or refused.",
                    "enum": modes, "default": "OFF", "examples": ["ENFORCED"],
                ]),
            JSONMember(
                "replay_protection",
                [
                    "description": .string(
                        "The same for session tokens that were used before. Not above `enforcement`. Limited-use tokens can always "
                            + "be used only once, unless `consumption` is `separate`."),
                    "enum": modes, "default": "OFF",
                ]),
            JSONMember(
                "editable",
                [
                    "description":
                        "Whether both levels may be changed through the API; changes are kept in the state.",
                    "type": "boolean", "default": false,
                ]),
            acceptsDevelopment,
            JSONMember(
                "accept_oauth_clients",
                [
                    "description": .string(
                        "Whether tokens of OAuth clients are accepted here. When absent they are for "
                            + "\(ServicePolicy.oauth2) only."),
                    "type": "boolean",
                ]),
            consumption(
                """
                Which uses of a token count for the service: `shared`, uses everywhere, so that a limited-use token is \
                valid once in all places together; `separate`, only its own, as in Google's service; \
                `replay_protection` then decides about limited-use tokens too.
                """),
        ])
    }

    private func consumption(_ description: String) -> JSONMember {
        JSONMember(
            ConsumptionReader.key,
            [
                "description": .string(description),
                "enum": .array(ConsumptionScope.allCases.map { .string($0.rawValue) }),
                "default": .string(ConsumptionScope.shared.rawValue),
            ])
    }

    private var acceptsDevelopment: JSONMember {
        JSONMember(
            "accept_development",
            [
                "description": .string(
                    "Whether tokens of providers for development are accepted, such as debug tokens. "
                        + "A server for production refuses `true`."),
                "type": "boolean", "default": false,
            ])
    }

    var app: [JSONMember] {
        ShapeSchema.object(
            [
                JSONMember(
                    "id",
                    [
                        "description": "The Firebase app ID.", "type": "string",
                        "pattern": "^[0-9]+:[0-9]+:[A-Za-z0-9]+:[A-Za-z0-9]+$", "maxLength": 200,
                        "examples": ["1:1234567890:ios:321abc456def7890"],
                    ]),
                name("The app's name for people."),
            ] + platforms.map { reference($0.name, to: Self.platformDefinition($0), $0.summary) } + [
                tokenLifetime("The lifetime of tokens, if a provider's section does not set it."),
                reference(
                    RateLimitReader.key, to: "rate_limit",
                    "The rate limit of calls for the app by devices; callers with a permission do not count."),
                reference("providers", to: "providers", "The kinds of evidence that the app's tokens are issued for."),
            ], required: ["id"])
    }

    var client: [JSONMember] {
        ShapeSchema.object(
            [
                text(
                    "id", "The OAuth client ID.", "^[A-Za-z0-9._-]{1,200}$",
                    example: "1234567890-example.apps.googleusercontent.com"),
                name("The client's name for people."),
                JSONMember(
                    "app",
                    [
                        "description":
                            "The app ID of the app it is linked to, whose platform sections and providers it uses.",
                        "type": ["string", "number"], "examples": ["1:1234567890:ios:321abc456def7890"],
                    ]),
                tokenLifetime("The lifetime of tokens, for a client with its own providers."),
                reference(
                    RateLimitReader.key, to: "rate_limit",
                    "The rate limit of calls for the client; when absent, its app's limit, counted separately."),
                reference("providers", to: "providers", "The client's own providers, instead of its app's."),
            ], required: ["id", "app"])
    }

    var rateLimit: [JSONMember] {
        let counts = PolicyKey.Rule.range(RateLimit.counts)
        return ShapeSchema.object(
            [
                JSONMember(
                    "requests",
                    .object(
                        ShapeSchema.members(
                            of: .integer,
                            PolicyKey("The most calls in each interval, on average.", counts, examples: [600])))),
                JSONMember(
                    "interval",
                    .object(
                        ShapeSchema.members(
                            of: .duration,
                            PolicyKey(
                                "The interval in which `requests` are counted.", .durations(RateLimit.intervals),
                                standard: .string(DurationText.text(RateLimit.standardInterval)))))),
                JSONMember(
                    "burst",
                    .object(
                        ShapeSchema.members(
                            of: .integer,
                            PolicyKey(
                                "The most calls at once, after a pause. When absent, as many as `requests`.", counts)))),
            ], required: ["requests"])
    }

    var providerSections: [JSONMember] {
        ShapeSchema.object(providers.map { reference($0.name, to: Self.definition($0), $0.summary) })
    }

    /// The plugin's own keys and the kernel's.
    func section(_ provider: Provider) -> [JSONMember] {
        ShapeSchema.members(of: provider.section).map { member in
            guard member.name.isExactly("properties") else { return member }
            let lifetime = tokenLifetime("The lifetime of the tokens that are issued for this evidence.")
            return JSONMember("properties", .object([lifetime] + (member.value.members ?? [])))
        }
    }

    var consumerSections: [JSONMember] {
        ShapeSchema.object(consumers.map { reference($0.name, to: Self.consumerDefinition($0), $0.summary) })
    }

    /// The plugin's own keys and the kernel's.
    func consumerSection(_ consumer: Provider) -> [JSONMember] {
        ShapeSchema.members(of: consumer.section).map { member in
            guard member.name.isExactly("properties") else { return member }
            let texts: [ExactText: PolicyKey] = [
                ExactText(ConsumerKeys.tokens): "The demand on App Check tokens.",
                ExactText(ConsumerKeys.actors):
                    "The issuers of the JWTs that name the users on whose behalf tokens are presented.",
            ]
            let own = ConsumerKeys.all.compactMap { key in
                consumerKeys[key].map { shape in
                    let members = ShapeSchema.members(of: shape, texts[key] ?? "")
                    return JSONMember(
                        key, .object(consumer.allowsUnenforced ? members : members.without("enforcement")))
                }
            }
            return JSONMember("properties", .object(own + (member.value.members ?? [])))
        }
    }

    private func name(_ description: String) -> JSONMember {
        JSONMember("name", .object([JSONMember("description", .string(description))] + ShapeSchema.text(nil)))
    }

    private func tokenLifetime(_ text: String) -> JSONMember {
        JSONMember(
            ProviderKeys.tokenTTL,
            .object(
                ShapeSchema.members(
                    of: .duration,
                    PolicyKey(
                        text, .durations(ProviderKeys.tokenLives),
                        standard: .string(DurationText.text(ProviderKeys.defaultTokenLifetime))))))
    }
}

extension [JSONMember] {
    /// The schema of a mapping without one of its keys.
    fileprivate func without(_ key: String) -> [JSONMember] {
        map { member in
            guard member.name.isExactly("properties") else { return member }
            return JSONMember(member.name, .object((member.value.members ?? []).filter { !$0.name.isExactly(key) }))
        }
    }
}
