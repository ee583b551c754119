internal import AssayCrypto
internal import AssayKit

/// A debug token as far as anybody may see it: without its text, and without its hash.
struct DebugTokenView: Sendable, Hashable {
    @Exact private(set) var id: String
    @Exact private(set) var displayName: String
    /// From when on it is refused; nil for never.
    let expires: Instant?
    /// When it was registered or changed; nil for one of the policy.
    let updated: Instant?

    static let shape: MessageShape = [
        .required("name", .text), .required("displayName", .text), .optional("expireTime", .timestamp),
        .optional("updateTime", .timestamp), .required("etag", .text),
    ]

    /// The message `DebugToken` of the API, and `expireTime`, which Google's service does not have.
    func message(of app: AppIdentity) -> JSON {
        .object(members(of: app) + [JSONMember("etag", .string(etag(of: app)))])
    }

    func etag(of app: AppIdentity) -> String {
        ETag.of(digest: SHA256.hash(JSON.object(members(of: app)).encoded))
    }

    /// What of it is put on record.
    var facts: [Fact] { [Fact(.debugTokenName, .text(displayName)), Fact(.debugTokenID, .text(id))] }

    private func members(of app: AppIdentity) -> [JSONMember] {
        var members = [
            JSONMember("name", .string("\(app.resource)/debugTokens/\(id)")),
            JSONMember("displayName", .string(displayName)),
        ]
        if let expires { members.append(JSONMember("expireTime", .string(expires.description))) }
        if let updated { members.append(JSONMember("updateTime", .string(updated.description))) }
        return members
    }
}
