package import AssayCore
package import AssayKit
package import AssayYAML

/// The JSON Schema (2020-12) of policy files, for completion, explanation and checks in editors.
///
/// It follows from the types that sections are decoded into, the kernel's as well as those of plugins.
package struct PolicySchema {
    /// A provider or a consumer whose section a policy may have.
    package struct Provider {
        let name: String
        let summary: String
        let section: ValueShape
        /// Of a consumer, whether its policy can allow requests without a valid token.
        let allowsUnenforced: Bool

        package init(name: String, summary: String, section: ValueShape, allowsUnenforced: Bool = false) {
            self.name = name
            self.summary = summary
            self.section = section
            self.allowsUnenforced = allowsUnenforced
        }
    }

    let providers: [Provider]
    /// The sections of platforms that an app can have.
    let platforms: [Provider]
    let consumers: [Provider]
    /// The shapes of a consumer's `tokens` and `actors`.
    let consumerKeys: [ExactText: ValueShape]
    let caller: ValueShape
    /// The shape of an issuer of JWTs.
    let issuer: ValueShape
    /// What apps of platforms share.
    let shared: [SharedSection]
    let permissions: [String]

    /// - Parameters:
    ///   - providers: in the order of their names.
    ///   - platforms: in the order of their names.
    ///   - consumers: in the order of their names.
    ///   - consumerKeys: the shapes of the kernel's keys in their sections.
    ///   - caller: the shape of an entry of `callers`.
    ///   - issuer: the shape of an issuer of JWTs.
    ///   - permissions: the permissions that callers can be granted.
    package init(
        providers: [Provider], platforms: [any PlatformSection.Type], consumers: [Provider],
        consumerKeys: [ExactText: ValueShape], caller: ValueShape, issuer: ValueShape, permissions: [String]
    ) {
        self.providers = providers
        self.platforms = platforms.map { Provider(name: $0.name, summary: $0.summary, section: ValueShape(of: $0)) }
        self.consumers = consumers
        self.consumerKeys = consumerKeys
        self.caller = caller
        self.issuer = issuer
        shared = platforms.compactMap { $0.shared }
        self.permissions = permissions
    }

    package var json: JSON {
        .object(
            [
                JSONMember("$schema", "https://json-schema.org/draft/2020-12/schema"),
                JSONMember("title", "Assay policy"),
                JSONMember(
                    "description",
                    "A policy file. All files of a folder form one set; `assay policy check` validates it."),
            ]
                + root
                + [JSONMember("$defs", .object(definitions))])
    }

    private var definitions: [JSONMember] {
        [
            JSONMember("project", .object(project)), JSONMember("project_addition", .object(projectAddition)),
            JSONMember("app", .object(app)), JSONMember("profile", .object(profile)),
            JSONMember("issuer", .object(issuerEntry)),
            JSONMember("oauth_client", .object(client)), JSONMember("caller", .object(callerEntry)),
            JSONMember("verification", .object(section(VerificationSection.self))),
            JSONMember("service", .object(section(ServiceSection.self))),
            JSONMember("rate_limit", .object(section(RateLimit.self))),
            JSONMember("rule", .object(rule)), JSONMember("deny_entry", .object(denyEntry)),
            JSONMember("providers", .object(providerSections)),
            JSONMember("shared_providers", .object(providerSections)),
            JSONMember("consumers", .object(consumerSections)),
        ]
            + platforms.map {
                JSONMember(Self.platformDefinition($0), .object(ShapeSchema.members(of: $0.section).relaxed))
            }
            + providers.map { JSONMember(Self.definition($0), .object(section($0))) }
            + providers.map { JSONMember(Self.shadowDefinition($0), .object(shadowSection($0))) }
            + consumers.map { JSONMember(Self.consumerDefinition($0), .object(consumerSection($0))) }
            + [Self.duration]
    }

    private static var duration: JSONMember {
        JSONMember(
            "duration",
            [
                "type": "string",
                "pattern": "^(?=[0-9])([0-9]{1,9}d)?([0-9]{1,9}h)?([0-9]{1,9}m)?([0-9]{1,9}s)?([0-9]{1,9}ms)?$",
                "examples": ["1h", "30m", "1h30m", "7d"],
            ])
    }

    /// The JSON Schema of another file in the folder of policies, by the type that it is decoded to.
    package static func document(of type: any Decodable.Type, title: String, description: String) -> JSON {
        .object(
            [
                JSONMember("$schema", "https://json-schema.org/draft/2020-12/schema"),
                JSONMember("title", .string(title)), JSONMember("description", .string(description)),
            ] + ShapeSchema.members(of: ValueShape(of: type)) + [JSONMember("$defs", .object([duration]))])
    }

    static func definition(_ provider: Provider) -> String { "provider_\(provider.name)" }

    /// What is in shadow of a provider; pages about keys do not list it again.
    static func shadowDefinition(_ provider: Provider) -> String { "shadow_\(provider.name)" }

    static func platformDefinition(_ platform: Provider) -> String { "platform_\(platform.name)" }

    static func consumerDefinition(_ consumer: Provider) -> String { "consumer_\(consumer.name)" }

    /// A list whose elements a definition describes.
    func list(of definition: String) -> JSON { ["type": "array", "items": reference(definition)] }

    /// A mapping of names to what a definition describes.
    func named(_ definition: String) -> JSON {
        [
            "type": ["object", "null"], "propertyNames": ["pattern": "^[A-Za-z0-9._@-]{1,64}$"],
            "additionalProperties": reference(definition),
        ]
    }

    func reference(_ definition: String) -> JSON { ["$ref": .string("#/$defs/\(definition)")] }

    func reference(_ key: String, to definition: String, _ description: String) -> JSONMember {
        JSONMember(key, ["description": .string(description), "$ref": .string("#/$defs/\(definition)")])
    }
}
