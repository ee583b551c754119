internal import AssayCore

/// What an administrator sends to register a debug token.
struct CreateDebugTokenRequest: RequestMessage {
    static let shape: MessageShape? = [
        .required(
            "debugToken",
            .message([
                .required("displayName", .textOfLength(1...ManagedToken.nameLimit)), .required("token", .text),
                .optional("expireTime", .timestamp),
            ]))
    ]

    let displayName: String
    /// A UUID; it must not be kept.
    let token: String
    let expires: Instant?

    init(_ fields: RequestFields) throws(InvalidRequest) {
        let fields = try fields.debugToken()
        displayName = try fields.displayName()
        token = try fields.string("token")
        guard UUID4.isText(token) else {
            throw InvalidRequest("the field 'token' must be a random UUID (version 4), such as SDKs print")
        }
        guard let text = try fields.optionalString("expireTime") else {
            expires = nil
            return
        }
        guard let time = Instant(rfc3339: text) else {
            throw InvalidRequest("the field 'expireTime' must be a time (RFC 3339), such as 2026-12-31T23:59:59Z")
        }
        expires = time
    }
}

struct GetDebugTokenRequest: RequestMessage {
    static let shape: MessageShape? = [.required("debugTokenId", .text)]

    let id: String

    init(_ fields: RequestFields) throws(InvalidRequest) {
        id = try fields.string("debugTokenId")
    }
}

/// A new name for a registered debug token; nothing else can be changed.
struct UpdateDebugTokenRequest: RequestMessage {
    static let shape: MessageShape? = [
        .required(
            "debugToken",
            .message([
                .required("displayName", .textOfLength(1...ManagedToken.nameLimit)), .optional("etag", .text),
            ])),
        .required("updateMask", .fieldMask),
    ]

    let id: String
    let displayName: String
    /// What the caller holds the token to be; nil when it does not care.
    let etag: String?

    init(_ fields: RequestFields) throws(InvalidRequest) {
        id = try fields.string("debugTokenId")
        let mask = try fields.requiredFieldMask()
        guard mask.paths.allSatisfy({ $0.isExactly("displayName") || $0.isExactly("*") }) else {
            throw InvalidRequest(
                "the field mask may name 'displayName' only: nothing else of a debug token can be changed")
        }
        let token = try fields.debugToken()
        guard try token.optionalString("token").isNil else {
            throw InvalidRequest("the field 'token' cannot be changed: register another debug token")
        }
        displayName = try token.displayName()
        etag = try token.optionalString("etag")
    }
}

struct DeleteDebugTokenRequest: RequestMessage {
    static let shape: MessageShape? = [.required("debugTokenId", .text), .optional("etag", .text)]

    let id: String
    /// What the caller holds the token to be; nil when it does not care.
    let etag: String?

    init(_ fields: RequestFields) throws(InvalidRequest) {
        id = try fields.string("debugTokenId")
        etag = try fields.optionalString("etag")
    }
}

extension RequestFields {
    /// The message `DebugToken`; an empty one when it is absent, as a request without a body has it.
    fileprivate func debugToken() throws(InvalidRequest) -> RequestFields {
        guard let message = try message("debugToken") else { return try RequestFields([:]) }
        return message
    }

    fileprivate func displayName() throws(InvalidRequest) -> String {
        let name = try string("displayName")
        guard name.utf8.count <= ManagedToken.nameLimit,
            name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else {
            throw InvalidRequest(
                "the field 'displayName' must have at most \(ManagedToken.nameLimit) bytes, and no control characters")
        }
        return name
    }
}
