internal import AssayCore
internal import AssayKit
internal import AssayYAML

/// Apps, OAuth clients, and what apps share, as JSON Schema.
extension PolicySchema {
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
                "The rate limit of calls for the app by devices; callers with a permission do not count. Each server counts on its own."
            ),
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

    var rateLimit: [JSONMember] {
        let counts = PolicyKey.Rule.range(RateLimit.counts)
        return ShapeSchema.object(
            [
                JSONMember(
                    "requests",
                    .object(
                        ShapeSchema.members(
                            of: .integer,
                            PolicyKey(
                                "The most calls in each interval, on average, on each server.", counts, examples: [600])
                        ))),
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

    private func name(_ description: String) -> JSONMember {
        JSONMember("name", .object([JSONMember("description", .string(description))] + ShapeSchema.text(nil)))
    }

    func tokenLifetime(_ text: String) -> JSONMember {
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
