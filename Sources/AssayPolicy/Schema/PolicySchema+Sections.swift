internal import AssayCore
internal import AssayKit
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
        let granted: JSON = [
            "description": .string(text(of: "permissions", in: caller) ?? ""), "type": "array", "minItems": 1,
            "items": ["enum": .array(permissions.map { .string($0) })],
        ]
        return ShapeSchema.members(
            of: caller, overriding: ["permissions": granted, "jwt": issuer(text(of: "jwt", in: caller))])
    }

    private func text(of key: String, in shape: ValueShape) -> String? {
        guard case .mapping(let shape) = shape else { return nil }
        return shape.descriptions[key]?.text
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
                JSONMember(
                    StageReader.key,
                    [
                        "description": .string(
                            "What the project is for. With `development`, each `accept_development` that is absent is `true`, and so "
                                + "are Apple's environments for development the default. A server for production refuses it."
                        ),
                        "enum": .array(ProjectStage.allCases.map { .string($0.rawValue) }),
                        "default": .string(ProjectStage.production.rawValue),
                    ]),
                reference("verification", to: "verification", "What `verifyAppCheckToken` accepts."),
                JSONMember("services", .object(services)),
                reference("consumers", to: "consumers", "The consumers of the project's tokens."),
            ] + resources, required: ["number", "id"])
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
                    "Whether tokens of providers for development are accepted, such as debug tokens. When absent, whether the "
                        + "project's `stage` is `development`. A server for production refuses `true`."),
                "type": "boolean",
            ])
    }

    var projectAddition: [JSONMember] {
        ShapeSchema.object(
            [
                JSONMember(
                    "project",
                    [
                        "description": "The number or the ID of a project of another place, which gets further apps.",
                        "type": ["integer", "string"], "examples": ["example-project"],
                    ])
            ] + resources, required: ["project"])
    }

    private var resources: [JSONMember] {
        [
            list("apps", of: "app", "The project's apps."),
            list(
                "oauth_clients", of: "oauth_client",
                "The project's OAuth clients of Google Sign-In's kind, each linked to one of its apps."),
        ]
    }

    var profiles: [JSONMember] {
        named(
            "profile",
            """
            Parts of apps' sections, by name: an app or another profile has what a profile has, merged by key, and its own keys \
            hold. Lists are not merged; `null` takes a key away.
            """)
    }

    var profile: [JSONMember] {
        let keys = appKeys.filter { !["id", "name", Profiles.key].contains(exactly: $0.name) }
        return ShapeSchema.object(
            [
                JSONMember(
                    "extends", ["description": "The profile that this one builds on.", "type": ["string", "null"]])
            ]
                + keys)
    }

    var issuers: [JSONMember] {
        named("issuer", "Issuers of JWTs, by name, for `actors` of consumers and `jwt` of callers.")
    }

    /// An issuer, with the name of another one that it builds on.
    var issuerEntry: [JSONMember] {
        ShapeSchema.members(of: issuer).relaxed.map { member in
            guard member.name.isExactly("properties") else { return member }
            let base = JSONMember(
                NamedIssuers.extends,
                ["description": "The name of an issuer whose keys lie beneath these.", "type": ["string", "null"]])
            return JSONMember(member.name, .object([base] + (member.value.members ?? [])))
        }
    }

    /// An issuer, or the name of one.
    private func issuer(_ description: String?) -> JSON {
        .object(
            (description.map { [JSONMember("description", .string($0))] } ?? [])
                + [JSONMember("anyOf", [["$ref": "#/$defs/issuer"], ["type": "string"]])])
    }

    private func named(_ definition: String, _ description: String) -> [JSONMember] {
        [
            JSONMember("description", .string(description)), JSONMember("type", ["object", "null"]),
            JSONMember("propertyNames", ["pattern": "^[A-Za-z0-9._@-]{1,64}$"]),
            JSONMember("additionalProperties", ["$ref": .string("#/$defs/\(definition)")]),
        ]
    }

    /// What the apps of a platform share.
    func shared(_ section: SharedSection) -> [JSONMember] {
        [
            JSONMember("description", .string(section.summary)), JSONMember("type", ["object", "null"]),
            JSONMember("additionalProperties", ["$ref": "#/$defs/shared_providers"]),
        ]
    }

    var app: [JSONMember] { ShapeSchema.object(appKeys, required: ["id"]) }

    private var appKeys: [JSONMember] {
        [
            JSONMember(
                "id",
                [
                    "description": "The Firebase app ID.", "type": "string",
                    "pattern": "^[0-9]+:[0-9]+:[A-Za-z0-9]+:[A-Za-z0-9]+$", "maxLength": 200,
                    "examples": ["1:1234567890:ios:321abc456def7890"],
                ]),
            name("The app's name for people."),
            JSONMember(
                Profiles.key,
                ["description": "The profile whose keys lie beneath those of the app.", "type": ["string", "null"]]),
        ] + platforms.map { reference($0.name, to: Self.platformDefinition($0), $0.summary) } + [
            tokenLifetime("The lifetime of tokens, if a provider's section does not set it."),
            reference(
                RateLimitReader.key, to: "rate_limit",
                "The rate limit of calls for the app by devices; callers with a permission do not count."),
            reference("providers", to: "providers", "The kinds of evidence that the app's tokens are issued for."),
            list(
                RuleReader.key, of: "rule",
                "Rules over the facts that providers find, for evidence that they have verified: the first that matches decides."
            ),
            capturedDecisions("Which evidence of the app is captured; when absent, what the section `capture` says."),
        ]
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

    /// A demand on a fact.
    var condition: JSON {
        let value: JSON = ["type": ["string", "number", "boolean"]]
        let comparisons = Comparison.allCases.map { comparison -> JSONMember in
            switch comparison {
            case .among, .notAmong:
                JSONMember(
                    comparison.rawValue,
                    ["description": .string(comparison.words), "type": "array", "minItems": 1, "items": value])
            case .known:
                JSONMember(comparison.rawValue, ["description": .string(comparison.words), "type": "boolean"])
            default:
                JSONMember(
                    comparison.rawValue,
                    ["description": .string(comparison.words), "type": ["string", "number", "boolean"]])
            }
        }
        return [
            "anyOf": [
                .object(ShapeSchema.object(comparisons)), ["type": ["string", "number", "boolean"]],
                ["type": "array", "minItems": 1, "items": value],
            ]
        ]
    }

    var rule: [JSONMember] {
        ShapeSchema.object(
            [
                text(
                    "name", "The rule's name in records, metrics and tokens.", "^[A-Za-z0-9._@-]{1,64}$",
                    example: "old-ios"),
                JSONMember(
                    "when",
                    [
                        "description": .string(
                            "The demands on facts, all of which must hold: a value, a list of values, or comparisons. Without any, the "
                                + "rule matches all evidence."),
                        "type": ["object", "null"], "additionalProperties": condition,
                        "examples": [["provider": ["not": "debug"]]],
                    ]),
                JSONMember(
                    "then",
                    [
                        "description": "What happens to evidence that the rule matches.",
                        "enum": .array(RulePolicy.Effect.allCases.map { .string($0.rawValue) }),
                    ]),
                JSONMember(
                    "claim",
                    [
                        "description":
                            "Whether tokens of evidence that is marked name the rule, in the claim `assay_mark`.",
                        "type": "boolean", "default": false,
                    ]),
                JSONMember(
                    RuleEnforcement.key,
                    [
                        "description": "With `shadow` the rule is judged and recorded, and changes nothing.",
                        "enum": .array(RuleEnforcement.allCases.map { .string($0.rawValue) }),
                        "default": .string(RuleEnforcement.enforced.rawValue),
                    ]),
            ], required: ["name", "then"])
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
        ShapeSchema.members(of: provider.section).relaxed.map { member in
            guard member.name.isExactly("properties") else { return member }
            let lifetime = tokenLifetime("The lifetime of the tokens that are issued for this evidence.")
            let shadow = reference(
                ProviderKeys.shadow, to: Self.shadowDefinition(provider),
                "Settings that are only tried: evidence that they would refuse is accepted, and its record has `would_refuse`."
            )
            return JSONMember("properties", .object([lifetime, shadow] + (member.value.members ?? [])))
        }
    }

    /// Settings of a provider that are only tried: none is required, because the others are those in force.
    func shadowSection(_ provider: Provider) -> [JSONMember] {
        ShapeSchema.members(of: provider.section).withoutDemands
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
                    var members = ShapeSchema.members(of: shape, texts[key] ?? "")
                    if key.isExactly(ConsumerKeys.actors) {
                        members = members.map { $0.name.isExactly("items") ? JSONMember("items", issuer(nil)) : $0 }
                    }
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
    /// The same schema for a mapping of which a profile, or another section, may have a part: its keys are only said to be required,
    /// by words that no validator knows.
    var relaxed: [JSONMember] {
        map { member in
            switch member.value {
            case .array where member.name.isExactly("required"): JSONMember("requiredUnlessShared", member.value)
            case .array where member.name.isExactly("oneOf"): JSONMember("oneOfUnlessShared", member.value)
            case .object(let members): JSONMember(member.name, .object(members.relaxed))
            default: member
            }
        }
    }

    /// The schema with nothing required at any depth.
    fileprivate var withoutDemands: [JSONMember] {
        filter { !($0.value.array != nil && ["required", "oneOf", "allOf"].contains(exactly: $0.name)) }.map { member in
            guard case .object(let members) = member.value else { return member }
            return JSONMember(member.name, .object(members.withoutDemands))
        }
    }

    /// The schema of a mapping without one of its keys.
    fileprivate func without(_ key: String) -> [JSONMember] {
        map { member in
            guard member.name.isExactly("properties") else { return member }
            return JSONMember(member.name, .object((member.value.members ?? []).filter { !$0.name.isExactly(key) }))
        }
    }
}
