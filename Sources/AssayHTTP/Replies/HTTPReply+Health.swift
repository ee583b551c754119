internal import AssayCore
internal import AssayKit

extension HTTPReply {
    /// The page of readiness with its reasons.
    ///
    /// - Parameters:
    ///   - plugins: those that cannot do their work.
    ///   - notes: what operators should know although the service works.
    ///   - revision: the policies in force; nil when they are unknown.
    init(_ readiness: Readiness, plugins: [PluginHealth], notes: [String], revision: PolicyRevision?) {
        let (status, json): (HTTPStatus, JSON) =
            switch readiness {
            case .ready: (.ok, ["status": "ok"])
            case .degraded(let reason): (.ok, ["status": "degraded", "reason": .string(reason)])
            case .notReady(let reason):
                (.serviceUnavailable, HTTPReply.error(.serviceUnavailable, "UNAVAILABLE", reason))
            }
        var members = json.members ?? []
        if let revision {
            members.append(JSONMember("revision", .string(revision.hash)))
            if let label = revision.label { members.append(JSONMember("label", .string(label))) }
        }
        if !plugins.isEmpty {
            members.append(
                JSONMember("plugins", .object(plugins.map { JSONMember($0.name, .string($0.summary)) })))
        }
        if !notes.isEmpty { members.append(JSONMember("notes", .array(notes.map { .string($0) }))) }
        self.init(status, .object(members))
    }
}

extension PluginHealth {
    /// The plugin on the page of all plugins.
    var json: JSON {
        var members = [
            JSONMember("kind", .string(kind.rawValue)), JSONMember("name", .string(name)),
            JSONMember("version", .string(version)), JSONMember("health", .string(state.rawValue)),
        ]
        if let reason { members.append(JSONMember("reason", .string(reason))) }
        return .object(members)
    }
}
