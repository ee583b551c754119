internal import AssayCore
internal import AssayHosting

extension HTTPReply {
    /// The page of readiness with its reasons.
    ///
    /// - Parameter plugins: those that cannot do their work.
    init(_ readiness: Readiness, plugins: [PluginHealth]) {
        let (status, json): (HTTPStatus, JSON) =
            switch readiness {
            case .ready: (.ok, ["status": "ok"])
            case .degraded(let reason): (.ok, ["status": "degraded", "reason": .string(reason)])
            case .notReady(let reason):
                (.serviceUnavailable, HTTPReply.error(.serviceUnavailable, "UNAVAILABLE", reason))
            }
        guard !plugins.isEmpty else {
            self.init(status, json)
            return
        }
        let shown = plugins.map { JSONMember($0.name, .string($0.summary)) }
        self.init(status, .object((json.members ?? []) + [JSONMember("plugins", .object(shown))]))
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
