internal import AssayCore
internal import AssayEngine
internal import AssayPolicy

/// The messages of the administrators' methods.
enum AdministrationShapes {
    private static let level = MessageField.Kind.choice(EnforcementMode.allCases.map(\.rawValue))

    static let page: [MessageField] = [
        .optional("pageSize", .integer(0...Int64(Int32.max))), .optional("pageToken", .text),
    ]

    /// The fields of an update of a service.
    static let service: MessageShape = [
        .optional("name", .text), .optional("enforcementMode", level), .optional("replayProtection", level),
        .optional("updateTime", .timestamp), .optional("etag", .text),
    ]
    static let serviceReply: MessageShape = [
        .required("name", .text), .optional("enforcementMode", level), .optional("replayProtection", level),
        .required("updateTime", .timestamp), .required("etag", .text),
    ]

    /// The fields of an update of a resource policy.
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

    /// What an entry of the deny list refuses: facts with what they are compared with, or one token.
    private static let match: MessageShape = {
        var match = MessageShape([.optional("jti", .textOfLength(1...1024))], isOpen: true)
        match.openFields = .object(
            [
                JSONMember(
                    "description",
                    .string(
                        "A fact by its name, such as `bundle_version`: a value, a list of values, or comparisons. All facts must "
                            + "fulfil theirs. A text, a version, a digest, a time or a duration is a string."))
            ] + (PolicySchema.condition.members ?? []))
        return match
    }()

    static let denyEntry = MessageShape(
        [
            .required("match", .message(match)),
            .optional("app", .text), .optional("note", .textOfLength(0...200)), .optional("expireTime", .timestamp),
        ], refusesUnknownFields: true)
    static let denyEntryReply = MessageShape(
        [
            .required("name", .text), .required("createTime", .timestamp), .required("creator", .text),
        ] + denyEntry.fields)

    static let config: MessageShape = [.optional("tokenTtl", .duration)]
    /// The provider defines the other fields.
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
            .required("requests", .list(.message(request), atMost: Administration.batchLimit)),
            .optional("updateMask", .fieldMask),
        ]
    }
}
