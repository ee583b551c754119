package import AssayCore
internal import AssayKit
internal import AssayYAML

/// The sections that the kernel reads, as JSON Schema: what their types tell, and references to what has a definition.
extension PolicySchema {
    var root: [JSONMember] {
        let projects: JSON = [
            "type": "array", "items": ["anyOf": [reference("project"), reference("project_addition")]],
        ]
        return section(
            RootSection.self,
            [
                "callers": named("caller"), "projects": projects, "profiles": named("profile"),
                "issuers": named("issuer"), "deny": list(of: "deny_entry"),
            ]
        ).withProperties { $0 + shared.map { JSONMember($0.name, .object(self.shared($0))) } }
    }

    var project: [JSONMember] {
        section(
            ProjectSection.self,
            [
                "verification": reference("verification"), "services": services, "consumers": reference("consumers"),
                "apps": list(of: "app"), "oauth_clients": list(of: "oauth_client"),
            ])
    }

    var projectAddition: [JSONMember] {
        section(ProjectAdditionSection.self, ["apps": list(of: "app"), "oauth_clients": list(of: "oauth_client")])
    }

    private var services: JSON {
        let google = ServicePolicy.googleServices.sortedExactly()
            .map { $0.replacing(".", with: "\\.") }.joined(separator: "|")
        return [
            "type": ["object", "null"],
            "propertyNames": ["pattern": .string("^(\(google)|(?!.*\\.googleapis\\.com$)[A-Za-z0-9._-]{1,100})$")],
            "additionalProperties": reference("service"),
        ]
    }

    var app: [JSONMember] {
        section(
            AppSection.self,
            [
                "profile": ["type": ["string", "null"]],
                "rate_limit": reference("rate_limit"), "providers": reference("providers"), "rules": list(of: "rule"),
            ]
        ).withProperties { own in
            own + platforms.map { reference($0.name, to: Self.platformDefinition($0), $0.summary) }
        }
    }

    var profile: [JSONMember] {
        let own = app.first { $0.name.isExactly("properties") }?.value.members ?? []
        return ShapeSchema.object(
            [Self.base("The profile that this one builds on.")]
                + own.filter { !Profiles.ownKeys.contains(exactly: $0.name) })
    }

    var client: [JSONMember] {
        section(
            OAuthClientSection.self, ["rate_limit": reference("rate_limit"), "providers": reference("providers")])
    }

    var rule: [JSONMember] {
        section(
            RuleSection.self, ["when": ["type": ["object", "null"], "additionalProperties": Self.condition]])
    }

    /// An entry of the deny list: its own keys, and facts.
    var denyEntry: [JSONMember] {
        [JSONMember("type", "object")] + section(DenySection.self).filter { $0.name.isExactly("properties") }
            + [JSONMember("additionalProperties", Self.condition)]
    }

    /// A demand on a fact, wherever it is made.
    package static var condition: JSON {
        let value: JSON = ["type": ["string", "number", "boolean"]]
        let comparisons = Comparison.allCases.map { comparison -> JSONMember in
            let form: [JSONMember] =
                switch comparison {
                case .among, .notAmong:
                    [JSONMember("type", "array"), JSONMember("minItems", 1), JSONMember("items", value)]
                case .known: [JSONMember("type", "boolean")]
                default: value.members ?? []
                }
            return JSONMember(
                comparison.rawValue, .object([JSONMember("description", .string(comparison.words))] + form))
        }
        return [
            "anyOf": [
                .object(ShapeSchema.object(comparisons)), value, ["type": "array", "minItems": 1, "items": value],
            ]
        ]
    }

    var callerEntry: [JSONMember] {
        ShapeSchema.members(
            of: caller,
            overriding: [
                "permissions": [
                    "type": "array", "minItems": 1, "items": ["enum": .array(permissions.map { .string($0) })],
                ],
                "jwt": issuerOrName,
            ])
    }

    /// An issuer, with the name of another one that it builds on.
    var issuerEntry: [JSONMember] {
        ShapeSchema.members(of: issuer).relaxed.withProperties {
            [Self.base("The name of an issuer whose keys lie beneath these.")] + $0
        }
    }

    var issuerOrName: JSON { ["anyOf": [reference("issuer"), ["type": "string"]]] }

    /// The schema of a section of the kernel.
    ///
    /// - Parameter references: schemas of keys that have definitions.
    func section(_ type: any Decodable.Type, _ references: [ExactText: JSON] = [:]) -> [JSONMember] {
        ShapeSchema.members(of: ValueShape(of: type), overriding: references)
    }

    /// The key that names what a profile or an issuer builds on.
    private static func base(_ description: String) -> JSONMember {
        JSONMember(Profiles.extends, ["description": .string(description), "type": ["string", "null"]])
    }
}
