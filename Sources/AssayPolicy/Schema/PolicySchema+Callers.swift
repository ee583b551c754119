internal import AssayCore
internal import AssayKit
internal import AssayYAML

/// How tokens are signed, and who calls methods that demand a permission, as JSON Schema.
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
    func issuer(_ description: String?) -> JSON {
        .object(
            (description.map { [JSONMember("description", .string($0))] } ?? [])
                + [JSONMember("anyOf", [["$ref": "#/$defs/issuer"], ["type": "string"]])])
    }

    func named(_ definition: String, _ description: String) -> [JSONMember] {
        [
            JSONMember("description", .string(description)), JSONMember("type", ["object", "null"]),
            JSONMember("propertyNames", ["pattern": "^[A-Za-z0-9._@-]{1,64}$"]),
            JSONMember("additionalProperties", ["$ref": .string("#/$defs/\(definition)")]),
        ]
    }
}
