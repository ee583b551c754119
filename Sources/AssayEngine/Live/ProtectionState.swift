package import AssayCore
package import AssayKit

/// What administrators set for a project's services, within the limits of its policy: one document of the state store,
/// so that a batch is one write.
package struct ProtectionState: Sendable, Equatable {
    package struct Edit: Sendable, Hashable {
        package let levels: ServiceLevels
        package let time: Instant

        package init(levels: ServiceLevels, time: Instant) {
            self.levels = levels
            self.time = time
        }
    }

    package var services: [ExactText: Edit] = [:]
    /// The resource policies, by their identifiers.
    package var resourcePolicies: [ExactText: ResourcePolicy] = [:]

    package static func document(of project: ProjectIdentity, in store: any StateStore) -> VersionedDocument {
        VersionedDocument(in: StateSpace("protection/\(project.number)", in: store))
    }

    /// Reads the state in force.
    package static func read(of project: ProjectIdentity, in store: any StateStore) async throws -> ProtectionState {
        let document = document(of: project, in: store)
        return try ProtectionState(decoding: try await document.read().value, of: document)
    }

}

extension ProtectionState {
    private static let limits = JSON.Limits(bytes: 1 << 20, depth: 6, values: 65_536, allowsRepeatedNames: false)

    package var encoded: [UInt8] {
        let services = self.services.sorted { $0.key < $1.key }.map { id, edit -> JSON in
            [
                "id": .string(id.string), "enforcement": .string(edit.levels.enforcement.rawValue),
                "replay": .string(edit.levels.replayProtection.rawValue), "time": .integer(edit.time.milliseconds),
            ]
        }
        let policies = resourcePolicies.values.sorted { $0.id.precedesExactly($1.id) }.map { policy -> JSON in
            [
                "id": .string(policy.id), "target": .string(policy.target),
                "enforcement": .string(policy.enforcement.rawValue), "time": .integer(policy.updated.milliseconds),
            ]
        }
        return JSON.object(["version": 1, "services": .array(services), "policies": .array(policies)]).encoded
    }

    /// - Throws: when the bytes are not what ``encoded`` makes: a level that cannot be read must not become OFF.
    package init(decoding bytes: [UInt8]?, of document: VersionedDocument) throws(VersionedDocument.Damaged) {
        guard let bytes else { return }
        let damaged = document.damaged
        guard let json = try? JSON.parse(bytes, limits: ProtectionState.limits), json["version"] == 1,
            let services = json["services"]?.array, let policies = json["policies"]?.array
        else { throw damaged }
        for entry in services {
            guard let id = entry["id"]?.string, let time = entry["time"]?.integer,
                let enforcement = EnforcementMode(json: entry["enforcement"]),
                let replay = EnforcementMode(json: entry["replay"])
            else { throw damaged }
            let levels = ServiceLevels(enforcement: enforcement, replayProtection: replay)
            self.services[id] = Edit(levels: levels, time: Instant(milliseconds: time))
        }
        for entry in policies {
            guard let id = entry["id"]?.string, let target = entry["target"]?.string,
                let time = entry["time"]?.integer, let enforcement = EnforcementMode(json: entry["enforcement"])
            else { throw damaged }
            resourcePolicies[id] = ResourcePolicy(
                id: id, target: target, enforcement: enforcement, updated: Instant(milliseconds: time))
        }
    }
}

extension EnforcementMode {
    fileprivate init?(json: JSON?) {
        guard let mode = json?.string.flatMap({ EnforcementMode(exactly: $0) }) else { return nil }
        self = mode
    }
}
