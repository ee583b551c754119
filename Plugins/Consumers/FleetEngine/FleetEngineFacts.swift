public import AssayKit

extension FactName {
    /// The role of the token that was given.
    public static let fleetEngineRole: FactName = "fleet_engine_role"
    /// What it is about: `vehicleid:ID`; `*` for a whole fleet.
    public static let fleetEngineIDs: FactName = "fleet_engine_ids"
}
