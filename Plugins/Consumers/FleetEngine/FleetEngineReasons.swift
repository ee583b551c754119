public import AssayKit

/// Why no token for Fleet Engine is given.
public enum FleetEngineReasons {
    public static let role = Reason(
        "fleet_engine_role_without_rule", "The policy has no rule for this role, so that nobody gets its tokens.")
    public static let actorMissing = Reason(
        "fleet_engine_actor_missing", "The rule is about the user, and the request brings no JWT of one.")
    public static let actor = Reason(
        "fleet_engine_actor_refused", "The user's JWT does not say what the rule demands of all users.")
    public static let id = Reason(
        "fleet_engine_id_refused", "The user may not have a token for the vehicle, trip, task or shipment asked for.")
    public static let wildcard = Reason(
        "fleet_engine_wildcard_refused", "All entities are asked for, and the rule allows no `*`.")
    public static let callback = Reason("fleet_engine_callback_refused", "The operator's backend says no.")

    /// All of them.
    public static let all = [role, actorMissing, actor, id, wildcard, callback]
}
