internal import AssayCore
internal import AssayKit

/// Asks the operator's backend whether a token may be given.
struct FleetEngineCallback: Sendable {
    private let callback: OperatorCallback

    init(
        _ configuration: OperatorCallbackConfiguration, at path: [ConfigurationError.Component], host: PluginHost
    ) throws(ConfigurationError) {
        callback = try OperatorCallback(configuration, at: path, host: host, name: "the callback for Fleet Engine") {
            host.meter.add(to: FleetEngineMetrics.callbacks, $0.rawValue)
        }
    }

    /// What the backend says.
    ///
    /// - Throws: `CallFailure` with `UNAVAILABLE` when the backend gives no clear answer.
    func allows(_ claims: FleetEngineClaims, _ context: ConsumerContext) async throws(CallFailure) -> Bool {
        try await callback.allows(
            Self.question(claims, context), for: OperatorCallback.Requester(context), deadline: context.deadline)
    }

    /// The content of the question to the backend.
    private static func question(_ claims: FleetEngineClaims, _ context: ConsumerContext) -> JSON {
        var ids: [JSONMember] = []
        for entity in FleetEngineEntity.allCases {
            guard let list = claims.ids[entity] else { continue }
            ids.append(JSONMember(entity.rawValue, .array(list.map { .string($0.text) })))
        }
        let user = context.actor.map { actor -> JSON in
            ["iss": .string(actor.issuer), "sub": .string(actor.subject)]
        }
        return [
            "decision": .string(context.decision.text), "project": .string(context.project.id),
            "role": .string(claims.role.rawValue), "ids": .object(ids),
            "app": context.app.map { .string($0.subject) } ?? .null, "actor": user ?? .null,
            "jti": context.token.map { .string($0.id) } ?? .null,
        ]
    }
}
