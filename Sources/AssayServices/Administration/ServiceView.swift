internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayKit

/// The present settings of a project's service.
struct ServiceView: Sendable {
    let id: String
    let levels: ServiceLevels
    /// When an administrator set the levels; nil if none has.
    let edited: Instant?
    /// When the levels were set: by an administrator, by a policy, or never.
    let updated: Instant

    /// The message of the API.
    ///
    /// Levels that are OFF are left out, as proto3 does with the first value of an enumeration.
    func message(of project: ProjectIdentity) -> JSON {
        var members = [JSONMember("name", .string("projects/\(project.number)/services/\(id)"))]
        if levels.enforcement != .off {
            members.append(JSONMember("enforcementMode", .string(levels.enforcement.rawValue)))
        }
        if levels.replayProtection != .off {
            members.append(JSONMember("replayProtection", .string(levels.replayProtection.rawValue)))
        }
        members.append(JSONMember("updateTime", .string(updated.description)))
        members.append(JSONMember("etag", .string(etag)))
        return .object(members)
    }

    var etag: String {
        ETag.of(id, levels.enforcement.rawValue, levels.replayProtection.rawValue, edited?.description ?? "")
    }
}

extension ProjectServices {
    /// A service as it is now.
    func view(of id: String, _ state: ProtectionState) throws(InvalidRequest) -> ServiceView {
        guard let service = try find(id) else {
            return ServiceView(id: id, levels: ServiceLevels(), edited: nil, updated: Instant(milliseconds: 0))
        }
        let edited = service.isEditable ? state.services[id]?.time : nil
        return ServiceView(
            id: id, levels: levels(of: service, state), edited: edited, updated: edited ?? project.since)
    }

    /// - Throws: when the policy does not let administrators change a service's levels; the error names the policy's
    ///   place.
    func checkEditable(_ id: String) throws(CallFailure) {
        guard let service = self[id] else {
            throw CallFailure(
                .failedPrecondition,
                "No policy lets administrators change the levels of \(id): have a backend \(id) of `custom_backend` or an entry in "
                    + "the section `services` of the project at \(project.location), with `editable: true`.")
        }
        guard !service.isEditable else { return }
        throw CallFailure(
            .failedPrecondition,
            "The levels of \(id) come from a policy file: change them at \(service.location), or allow changes with "
                + "`editable: true` there.")
    }
}

extension ProtectionState {
    /// Changes the state in force, completely or not at all, and returns the result of `change`.
    ///
    /// `change` gets the present state; if another writer was faster, it runs again on that writer's state.
    static func update<Value>(
        of project: ProjectIdentity, in store: any StateStore, now: Instant,
        _ change: (inout ProtectionState) throws -> Value
    ) async throws -> Value {
        let document = document(of: project, in: store)
        return try await document.update(now: now) { bytes in
            let present = try ProtectionState(decoding: bytes, of: document)
            var state = present
            let value = try change(&state)
            return (state == present ? nil : state.encoded, value)
        }
    }
}

extension ETag {
    /// The validator of a resource with exactly these contents.
    static func of(_ parts: String...) -> String {
        of(digest: SHA256.hash(parts.flatMap { UInt64($0.utf8.count).bigEndianBytes + Array($0.utf8) }))
    }
}
