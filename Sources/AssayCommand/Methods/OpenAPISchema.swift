internal import AssayCore

/// The JSON Schemas (2020-12) of messages.
enum OpenAPISchema {
    /// What a request may be: further fields are passed over, unless the shape refuses them.
    static func request(_ shape: MessageShape) -> JSON {
        object(shape, isOpen: shape.isOpen || !shape.refusesUnknownFields, field: of)
    }

    /// What a reply is.
    static func reply(_ shape: MessageShape) -> JSON {
        object(shape, isOpen: shape.isOpen) { kind in
            switch kind {
            case .message(let shape): reply(shape)
            case .list(.message(let shape), let limit): list(reply(shape), limit)
            default: of(kind)
            }
        }
    }

    /// What a field of a request may be.
    static func of(_ kind: MessageField.Kind) -> JSON {
        switch kind {
        case .text: ["type": "string"]
        case .textOfLength(let range):
            [
                "type": "string", "minLength": .integer(Int64(range.lowerBound)),
                "maxLength": .integer(Int64(range.upperBound)),
            ]
        case .bytes: ["type": "string", "pattern": "^[A-Za-z0-9+/_-]+={0,2}$", "contentEncoding": "base64"]
        case .boolean: ["type": "boolean"]
        case .integer(let range):
            ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
        case .duration: ["type": "string", "pattern": #"^[0-9]{1,12}(\.[0-9]{1,9})?s$"#]
        case .timestamp: ["type": "string", "format": "date-time"]
        case .fieldMask: ["type": "string", "pattern": #"^(\*|[A-Za-z][A-Za-z0-9_.]*(,[A-Za-z][A-Za-z0-9_.]*)*)$"#]
        case .choice(let words): ["type": "string", "enum": .array(words.map { .string($0) })]
        case .message(let shape): request(shape)
        case .list(let kind, let limit): list(of(kind), limit)
        }
    }

    private static func list(_ element: JSON, _ limit: Int) -> JSON {
        var members = [JSONMember("type", "array"), JSONMember("items", element)]
        if limit < .max { members.append(JSONMember("maxItems", .integer(Int64(limit)))) }
        return .object(members)
    }

    private static func object(
        _ shape: MessageShape, isOpen: Bool, field: (MessageField.Kind) -> JSON
    ) -> JSON {
        var members = [
            JSONMember("type", "object"),
            JSONMember("properties", .object(shape.fields.map { JSONMember($0.name, field($0.kind)) })),
        ]
        let required = shape.fields.filter(\.isRequired)
        if !required.isEmpty { members.append(JSONMember("required", .array(required.map { .string($0.name) }))) }
        if !isOpen {
            members.append(JSONMember("additionalProperties", false))
        } else if let schema = shape.openFields {
            members.append(JSONMember("additionalProperties", schema))
        }
        return .object(members)
    }

    /// google.rpc.Status, as Google's services put it into JSON.
    static let error: JSON = [
        "type": "object", "required": ["error"], "additionalProperties": false,
        "properties": [
            "error": [
                "type": "object", "required": ["code", "message", "status"],
                "properties": [
                    "code": ["type": "integer", "description": "The HTTP status."],
                    "message": ["type": "string"],
                    "status": ["type": "string", "pattern": "^[A-Z_]+$", "description": "The canonical code."],
                    "details": ["type": "array", "items": ["type": "object", "required": ["@type"]]],
                ],
            ]
        ],
    ]

    /// RFC 6749, section 5.2.
    static let oauthError: JSON = [
        "type": "object", "required": ["error"],
        "properties": [
            "error": ["type": "string", "pattern": "^[a-z_]+$"], "error_description": ["type": "string"],
        ],
    ]

    /// RFC 7517, with keys for signatures alone.
    static let keySet: JSON = [
        "type": "object", "required": ["keys"],
        "properties": [
            "keys": [
                "type": "array",
                "items": [
                    "type": "object", "required": ["kty", "kid", "alg", "use"],
                    "properties": [
                        "kty": ["enum": ["RSA", "EC"]], "kid": ["type": "string"], "alg": ["type": "string"],
                        "use": ["const": "sig"],
                    ],
                ],
            ]
        ],
    ]
}
