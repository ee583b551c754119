public import AssayCore

/// What a token lets its bearer touch: the object under `authorization` in its claims, good by Fleet Engine's rules.
///
/// Roles for a whole fleet have `*` for every kind of entity. The others have the requested IDs: `taskids` for several
/// tasks, which `BatchCreateTasks` needs.
public struct FleetEngineClaims: Sendable, Hashable {
    /// The most tasks in one token, which goes in a header.
    public static let taskLimit = 64

    /// The role that the token grants.
    public let role: FleetEngineRole
    /// What was asked for, each list sorted and without repetitions; empty for a whole fleet.
    public let ids: [FleetEngineEntity: [FleetEngineID]]
    /// Whether the tasks are in `taskids`.
    public let isBatch: Bool
    /// The object in JSON, always in the same spelling.
    public let json: [UInt8]

    /// Makes claims for a role.
    ///
    /// - `ids`: of the kinds that ``FleetEngineRole/entities`` lists; none for the whole fleet.
    /// - Throws: when the role has no such tokens.
    public init(
        _ role: FleetEngineRole, _ ids: [FleetEngineEntity: [FleetEngineID]] = [:]
    ) throws(InvalidFleetEngineClaims) {
        let ids = ids.filter { !$0.value.isEmpty }.mapValues { Self.sorted($0) }
        for (entity, list) in ids {
            guard role.entities.contains(entity) else {
                throw InvalidFleetEngineClaims("the role \(role.rawValue) is not about \(entity.collection)")
            }
            guard list.count <= (entity == .task ? Self.taskLimit : 1) else {
                throw InvalidFleetEngineClaims("there are too many \(entity.collection)")
            }
            guard list.count == 1 || !list.contains(.all) else {
                throw InvalidFleetEngineClaims("* means all \(entity.collection), and must be the only one")
            }
        }
        let tasks = ids[.task] ?? []
        self.role = role
        self.ids = ids
        isBatch = tasks.count > 1 || (role == .deliveryServer && !tasks.isEmpty)
        json = Self.object(role, ids, isBatch: isBatch).encoded
        try checkCombination()
    }

    /// Checks which claims a token may combine (Google, Fleet Engine, "JSON Web Tokens").
    private func checkCombination() throws(InvalidFleetEngineClaims) {
        guard !ids.isEmpty || !role.fleet.isEmpty else {
            throw InvalidFleetEngineClaims("the role \(role.rawValue) needs an ID")
        }
        guard !isBatch || (ids[.deliveryVehicle] == nil && ids[.tracking] == nil) else {
            throw InvalidFleetEngineClaims("several tasks go without a vehicle and without tracking")
        }
        let delivery = ids.filter { [.deliveryVehicle, .task, .tracking].contains($0.key) }
        let isAll = delivery.allSatisfy { $0.value == [.all] }
        guard isAll || delivery.count == 1 || delivery[.tracking] == nil else {
            throw InvalidFleetEngineClaims("tracking cannot be combined with a task or a vehicle")
        }
        guard role != .deliveryConsumer || (ids.count == 1 && !isBatch) else {
            throw InvalidFleetEngineClaims("the role \(role.rawValue) is about one shipment or one task")
        }
    }

    /// The IDs for the record: `vehicleid:ID`; of long lists only the beginning.
    var summary: String {
        let shown = 8
        let parts = FleetEngineEntity.allCases.compactMap { entity -> String? in
            guard let list = ids[entity] else { return nil }
            let name = entity == .task && isBatch ? Self.batch : entity.claim
            let rest = list.count > shown ? " and \(list.count - shown) more" : ""
            return "\(name):\(list.prefix(shown).map(\.text).joined(separator: ","))\(rest)"
        }
        return parts.isEmpty ? "*" : parts.joined(separator: " ")
    }

    private static let batch = "taskids"

    private static func object(
        _ role: FleetEngineRole, _ ids: [FleetEngineEntity: [FleetEngineID]], isBatch: Bool
    ) -> JSON {
        if ids.isEmpty { return .object(role.fleet.map { JSONMember($0.claim, "*") }) }
        return .object(
            FleetEngineEntity.allCases.compactMap { entity in
                guard let list = ids[entity], let first = list.first else { return nil }
                if entity == .task, isBatch { return JSONMember(batch, .array(list.map { .string($0.text) })) }
                return JSONMember(entity.claim, .string(first.text))
            })
    }

    private static func sorted(_ list: [FleetEngineID]) -> [FleetEngineID] {
        list.count == 1 ? list : Set(list).sorted { $0.text.precedesExactly($1.text) }
    }
}

/// Claims that no token of the role has.
public struct InvalidFleetEngineClaims: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error, for the client.
    @Exact public private(set) var message: String

    init(_ message: String) {
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
