internal import AssayKit

/// The messages of the kernel's own methods.
enum KernelShapes {
    private static let level = MessageField.Kind.choice(EnforcementMode.allCases.map(\.rawValue))

    static let verification: MessageShape = [
        .required("appCheckToken", .text), .optional("requestId", .textOfLength(16...128)), .optional("service", .text),
    ]
    static let verified: MessageShape = [.optional("alreadyConsumed", .boolean)]

    static let minting: MessageShape = [
        .optional("tokenTtl", .duration),
        .optional("limitedUseConfig", .message([.optional("jti", .textOfLength(RequestedTokenID.length))])),
    ]
    static let token: MessageShape = [.required("token", .text), .required("ttl", .duration)]

    static let page: [MessageField] = [
        .optional("pageSize", .integer(0...Int64(Int32.max))), .optional("pageToken", .text),
    ]

    /// What an update of a service may say.
    static let service: MessageShape = [
        .optional("name", .text), .optional("enforcementMode", level), .optional("replayProtection", level),
        .optional("updateTime", .timestamp), .optional("etag", .text),
    ]
    static let serviceReply: MessageShape = [
        .required("name", .text), .optional("enforcementMode", level), .optional("replayProtection", level),
        .required("updateTime", .timestamp), .required("etag", .text),
    ]

    /// What an update of a resource policy may say.
    static let resourcePolicy: MessageShape = [
        .optional("name", .text), .optional("targetResource", .text), .optional("enforcementMode", level),
        .optional("updateTime", .timestamp), .optional("etag", .text),
    ]
    static let newResourcePolicy: MessageShape = [
        .required("targetResource", .text), .optional("enforcementMode", level),
    ]
    static let resourcePolicyReply: MessageShape = [
        .required("name", .text), .required("targetResource", .text), .optional("enforcementMode", level),
        .required("updateTime", .timestamp), .required("etag", .text),
    ]

    static let config: MessageShape = [.optional("tokenTtl", .duration)]
    /// What a provider shows beside these fields is its own.
    static let configReply = MessageShape(
        [.required("name", .text), .required("tokenTtl", .duration)], isOpen: true)

    /// A page of a list.
    static func list(_ name: String, of element: MessageShape) -> MessageShape {
        [.optional(name, .list(.message(element), atMost: ListPage.largest)), .optional("nextPageToken", .text)]
    }

    /// An update of one resource, whose mask is in the query.
    static func update(_ name: String, _ message: MessageShape) -> MessageShape {
        [.optional(name, .message(message)), .required("updateMask", .fieldMask)]
    }

    /// Updates of several resources, each with its full name.
    static func batch(_ name: String, _ message: MessageShape) -> MessageShape {
        let named = MessageShape([.required("name", .text)] + message.fields.filter { !$0.name.isExactly("name") })
        let request: MessageShape = [.required(name, .message(named)), .optional("updateMask", .fieldMask)]
        return [
            .required("requests", .list(.message(request), atMost: KernelMethods.batchLimit)),
            .optional("updateMask", .fieldMask),
        ]
    }
}
