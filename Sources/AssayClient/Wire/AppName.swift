/// The resource name of an app: `projects/PROJECT/apps/APP_ID`, or `oauthClients/CLIENT_ID`.
struct AppName: Sendable {
    let text: String
    /// The number or the ID of the project; nil for an OAuth client.
    let project: String?
    /// What the claim `sub` of its tokens is.
    let id: String

    /// The identifier of an OAuth client; nil for an app of a project.
    var client: String? {
        if let _ = project { nil } else { id }
    }

    init?(_ text: String) {
        guard text.utf8.count <= 512,
            text.utf8.allSatisfy({ $0.isAlphanumeric || "/:._-".utf8.contains($0) })
        else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard parts.allSatisfy({ !$0.isEmpty && !$0.sameBytes(as: ".") && !$0.sameBytes(as: "..") }) else { return nil }
        if parts.count == 4, parts[0].sameBytes(as: "projects"), parts[2].sameBytes(as: "apps") {
            project = parts[1]
            id = parts[3]
        } else if parts.count == 2, parts[0].sameBytes(as: "oauthClients") {
            project = nil
            id = parts[1]
        } else {
            return nil
        }
        self.text = text
    }
}
