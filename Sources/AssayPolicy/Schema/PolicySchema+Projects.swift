internal import AssayCore
internal import AssayKit
internal import AssayYAML

/// Projects with their services, as JSON Schema.
extension PolicySchema {
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
}
