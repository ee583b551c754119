internal import AssayCore
internal import AssayKit

/// A description of methods in OpenAPI 3.1.
struct OpenAPIDocument {
    private let methods: [MethodDescriptor]
    private let owner: (String) -> String?
    private let served: ServedNames?

    /// - Parameters:
    ///   - owner: the plugin that a method belongs to; nil for the kernel's own.
    ///   - served: what policies have; nil to describe whatever a policy could have.
    init(methods: [MethodDescriptor], owner: @escaping (String) -> String?, served: ServedNames?) {
        self.methods = methods
        self.owner = owner
        self.served = served
    }

    var json: JSON {
        let name = AssayProgram.current.name
        return [
            "openapi": "3.1.0",
            "info": [
                "title": .string(name.prefix(1).uppercased() + name.dropFirst()),
                "summary": "A self-hosted App Check.",
                "description": """
                Names of fields may be in lowerCamelCase or snake_case; fields that are not named here are passed over. \
                Every reply of a decision has its identifier in the header x-assay-decision.
                """,
                "version": .string(AssayProgram.current.version),
                "license": ["name": "Apache License 2.0", "identifier": "Apache-2.0"],
            ],
            "servers": [["url": "/"]],
            "tags": .array(tags.map { ["name": .string($0)] }),
            "paths": .object(paths),
            "components": [
                "schemas": [
                    "Error": OpenAPISchema.error, "OAuthError": OpenAPISchema.oauthError,
                    "JSONWebKeySet": OpenAPISchema.keySet,
                ],
                "responses": .object(OpenAPIOperation.refusals.map { JSONMember($0.name, $0.response) }),
                "securitySchemes": [
                    "bearer": ["type": "http", "scheme": "bearer", "description": "A token of a caller of the policy."]
                ],
            ],
        ]
    }

    private var tags: [String] {
        var seen: Set<String> = []
        return operations.map(\.tag).filter { seen.insert($0).inserted }
    }

    /// The operations in the order of their methods; those with one path stand together.
    private var paths: [JSONMember] {
        var order: [String] = []
        var items: [String: [JSONMember]] = [:]
        for operation in operations {
            if items[operation.path] == nil { order.append(operation.path) }
            items[operation.path, default: []].append(JSONMember(operation.verb, operation.json))
        }
        return order.map { JSONMember($0, .object(items[$0] ?? [])) }
    }

    private var operations: [OpenAPIOperation] {
        methods.flatMap { method -> [OpenAPIOperation] in
            let owner = owner(method.name)
            guard served?.serves(method, of: owner) ?? true else { return [] }
            return method.rules.filter { served?.serves($0) ?? true }.flatMap { rule in
                OpenAPIOperation.verbs(of: rule).map {
                    OpenAPIOperation(method: method, rule: rule, verb: $0, tag: owner ?? "kernel", served: served)
                }
            }
        }
    }
}
