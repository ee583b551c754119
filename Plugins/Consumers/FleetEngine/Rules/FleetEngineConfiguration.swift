public import AssayKit

/// The section `fleet_engine` of a policy: who gets which tokens, and which service accounts sign them.
///
///     account: file:/run/secrets/fleet-engine.json
///     callback: {url: https://backend.example.com/fleet-engine, token: "env:FLEET_ENGINE_CALLBACK"}
///     roles:
///       driver: {vehicle: {claim: vehicle_id}}
///       consumer: {callback: true}
///       server: {account: file:/run/secrets/fleet-server.json, actor: {claim: groups, values: [dispatchers]}}
public struct FleetEngineConfiguration: Decodable, Sendable {
    /// The provider's ID at Fleet Engine; the project's ID when absent.
    public let providerID: String?
    /// `aud` of the tokens, and the audience of a token exchange; Google's service when absent.
    public let audience: String?
    /// How long tokens live; an hour when absent.
    public let tokenTTL: Duration?
    /// The key file of the service account that signs for roles without one of their own.
    public let account: SecretReference?
    /// The operator's backend, which is asked where a role says so.
    public let callback: FleetEngineCallbackConfiguration?
    /// Which tokens `/token/fleet_reader` gives.
    public let fleetReaderRole: ReaderRole?
    /// The roles that are given, each to whom its rule says.
    public let roles: FleetEngineRolesConfiguration

    /// The roles of those who watch a fleet.
    public enum ReaderRole: String, Decodable, Sendable, CaseIterable {
        case deliveryFleetReader = "delivery_fleet_reader"
        case fleetReader = "fleet_reader"

        var role: FleetEngineRole {
            switch self {
            case .deliveryFleetReader: .deliveryFleetReader
            case .fleetReader: .fleetReader
            }
        }
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case providerID = "provider_id"
        case audience
        case tokenTTL = "token_ttl"
        case account, callback
        case fleetReaderRole = "fleet_reader_role"
        case roles
    }
}
