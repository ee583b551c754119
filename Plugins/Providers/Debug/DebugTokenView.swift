internal import AssayCore
internal import AssayCrypto
internal import AssayKit

/// A debug token of the policy.
struct DebugTokenSummary: Sendable {
    let view: DebugTokenView
    /// Its place in the policy; nil if the policy is not a file.
    let place: String?
}

/// The debug tokens of the policy.
struct ListedTokens: Sendable {
    private var byHash: [[UInt8]: DebugTokenSummary] = [:]
    private var byID: [ExactText: DebugTokenSummary] = [:]
    /// The expired tokens, which cannot be used.
    private(set) var warnings: [ConfigurationWarning] = []

    /// - Parameter problems: collects the errors of the entries.
    init(
        _ tokens: [Located<DebugToken>], secrets: SecretSource, now: Instant, problems: inout ConfigurationProblems
    ) {
        var names: Set<ExactText> = []
        for (index, entry) in tokens.enumerated() {
            let token = entry.value
            let path: [ConfigurationError.Component] = ["tokens", .index(index)]
            if !names.insert(token.name).inserted {
                problems.report(at: path + ["name"], "two debug tokens are named `\(token.name)`")
            }
            if let expires = token.expires, expires <= now {
                warnings.append(
                    ConfigurationWarning(
                        at: path + ["expires"],
                        "the debug token `\(token.name)` expired at \(expires), and is refused: take it out, or give it "
                            + "another time"))
            }
            let found = problems.attempt { () throws(ConfigurationError) in try token.hash(at: path, secrets: secrets) }
            guard case let hash?? = found else { continue }
            if byHash[hash] != nil { problems.report(at: path, "the same token is repeated here") }
            let view = DebugTokenView(
                id: ListedTokens.id(of: token.name), displayName: token.name, expires: token.expires, updated: nil)
            byHash[hash] = DebugTokenSummary(view: view, place: entry.place)
            byID[view.id] = byHash[hash]
        }
    }

    func token(hash: [UInt8]) -> DebugTokenSummary? { byHash[hash] }

    func token(id: String) -> DebugTokenSummary? { byID[id] }

    var views: [DebugTokenView] { byID.values.map(\.view) }

    /// The token's identifier in the API: the same as long as the token keeps its name, and never that of a registered
    /// one, which is a UUID.
    private static func id(of name: String) -> String {
        "policy-\(Hex.encode(SHA256.hash(Array(name.utf8)).prefix(16)))"
    }
}

/// The public description of a debug token: without its text, and without its hash.
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
    var facts: [Fact] { [Fact(.debugTokenName, cutting: displayName), Fact(.debugTokenID, .text(id))] }

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
