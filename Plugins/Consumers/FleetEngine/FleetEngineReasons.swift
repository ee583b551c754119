public import AssayCore
internal import AssayKit

/// Why no token for Fleet Engine is given.
public enum FleetEngineReasons {
    /// The policy has no rule for this role, so its tokens are not issued.
    public static let role = Reason(
        "fleet_engine_role_without_rule", "The policy has no rule for this role, so its tokens are not issued.",
        advice: "Add the role to `roles` of the section `fleet_engine` if its tokens should be issued.")
    /// The rule needs the user's JWT, and the request has none.
    public static let actorMissing = Reason(
        "fleet_engine_actor_missing", "The rule needs the user's JWT, and the request has none.",
        advice: """
            Send the user's JWT with the request (`Authorization: Bearer` or `actor_token`), or write a rule that \
            needs no user.
            """)
    /// The user's JWT does not say what the rule demands of all users.
    public static let actor = Reason(
        "fleet_engine_actor_refused", "The user's JWT does not say what the rule demands of all users.",
        advice: """
            Compare `actor` of the role's rule with the claims of the user's JWT; the record's `detail` names the \
            claim.
            """)
    /// The user may not have a token for the vehicle, trip, task or shipment asked for.
    public static let id = Reason(
        "fleet_engine_id_refused", "The user may not have a token for the vehicle, trip, task or shipment asked for.",
        advice: """
            Check that the claim that the rule names holds the requested ID in the user's JWT; the record's `detail` \
            names both. If a rule for this kind of ID is missing, add one.
            """)
    /// The request is for all entities (`*`), which the rule does not allow.
    public static let wildcard = Reason(
        "fleet_engine_wildcard_refused", "The request is for all entities (`*`), which the rule does not allow.",
        advice: "Ask for one ID, or set `wildcard: true` in the role's rule if its users may see everything.")
    /// The operator's backend refused the request.
    public static let callback = Reason(
        "fleet_engine_callback_refused", "The operator's backend refused the request.",
        advice: "Your backend answered `{\"allow\": false}`: look in its log at the time of the decision.")

    /// All of them.
    public static let all = [role, actorMissing, actor, id, wildcard, callback]
}

extension FactName {
    /// The role of the token that was given.
    public static let fleetEngineRole = FactName(
        "fleet_engine_role", .words(FleetEngineRole.allCases.map { ExactText($0.rawValue) }))
    /// The entities of the token: `vehicleid:ID`; `*` for a whole fleet.
    public static let fleetEngineIDs: FactName = "fleet_engine_ids"
}

/// The metrics of tokens for Fleet Engine.
enum FleetEngineMetrics {
    static let tokens = Metric.counter(
        "tokens_total", "Tokens that were issued, newly signed or again.",
        labels: [.init("role", FleetEngineRole.allCases.map(\.rawValue)), .init("result", ["minted", "reused"])])
    static let callbacks = Metric.counter(
        "callbacks_total", "Questions to the operator's backend, by their results.",
        labels: [.init("result", OperatorCallback.Result.allCases.map(\.rawValue))])
    static let all = [tokens, callbacks]
}
