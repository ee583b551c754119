internal import AssayCore
internal import AssayKit

/// Reads what a token exchange asks for: the role from `scope`, the entities from `resource` (RFC 8693, section 2.1).
struct FleetEngineExchange: Sendable {
    let provider: String
    /// What URIs of resources begin with.
    let bases: [String]

    /// Google's service, and the audience if it is another URL.
    init(provider: String, audience: String) {
        self.provider = provider
        var bases = [FleetEngineMinter.standardAudience]
        let own = audience.ends(withExactly: "/") ? audience : audience + "/"
        if own.starts(withExactly: "https://"), !bases.contains(exactly: own) { bases.append(own) }
        self.bases = bases
    }

    /// - Throws: `invalid_target` for a resource of another provider, or one that does not match the role;
    ///   `invalid_scope` when the scope is not a role, or when neither the scope nor the resource gives a role;
    ///   `invalid_request` for another type of token.
    func claims(_ request: TokenExchangeRequest) throws(CallFailure) -> FleetEngineClaims {
        guard request.requestedType.map({ [.jwt, .accessToken].contains($0) }) ?? true else {
            throw Self.failure("invalid_request", "the requested_token_type is not given here")
        }
        guard request.resources.count <= FleetEngineClaims.taskLimit else {
            throw Self.failure("invalid_target", "there are too many resources")
        }
        var ids: [FleetEngineEntity: [FleetEngineID]] = [:]
        for uri in request.resources {
            guard let resource = FleetEngineResource(uri, provider: provider, bases: bases) else {
                throw Self.failure("invalid_target", "a resource belongs to another provider")
            }
            ids[resource.entity, default: []].append(resource.id)
        }
        let role = try role(request.scopes, ids)
        do throws(InvalidFleetEngineClaims) {
            return try FleetEngineClaims(role, ids)
        } catch {
            throw Self.failure("invalid_target", error.message)
        }
    }

    private func role(
        _ scopes: [String], _ ids: [FleetEngineEntity: [FleetEngineID]]
    ) throws(CallFailure) -> FleetEngineRole {
        if let scope = scopes.first {
            guard scopes.count == 1, let role = FleetEngineRole(exactly: scope) else {
                throw Self.failure("invalid_scope", "the scope is not a role")
            }
            return role
        }
        guard ids.count == 1, let entity = ids.keys.first, let role = Self.role(of: entity) else {
            throw Self.failure("invalid_scope", "the scope must say which role the token is for")
        }
        return role
    }

    /// The role that an entity implies; of several, the one with the fewest rights.
    private static func role(of entity: FleetEngineEntity) -> FleetEngineRole? {
        switch entity {
        case .vehicle: .driver
        case .trip: .consumer
        case .deliveryVehicle: .untrustedDeliveryDriver
        case .tracking: .deliveryConsumer
        case .task: nil
        }
    }

    private static func failure(_ error: String, _ message: String) -> CallFailure {
        CallFailure(.invalidArgument, message, oauthError: error)
    }
}
