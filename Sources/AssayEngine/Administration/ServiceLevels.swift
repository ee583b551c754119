internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayPolicy

/// The level of protection of a service.
struct ServiceLevels: Sendable, Hashable {
    var enforcement = EnforcementMode.off
    var replayProtection = EnforcementMode.off
}

/// The present settings of a project's service.
struct ServiceView: Sendable {
    let id: String
    let levels: ServiceLevels
    /// When an administrator set the levels; nil if none has.
    let edited: Instant?
    /// When the levels were set: by an administrator, by a policy, or never.
    let updated: Instant
    /// Whether a policy or an administrator has configured the service.
    let isConfigured: Bool

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

extension ETag {
    /// The validator of a resource with exactly these contents.
    static func of(_ parts: String...) -> String {
        of(digest: SHA256.hash(parts.flatMap { UInt64($0.utf8.count).bigEndianBytes + Array($0.utf8) }))
    }
}

/// The services of a project: what its policy says, and what administrators set within its limits.
extension ProjectBinding {
    /// Whether the project has a service: one of Google's, or one that its policy names.
    package func supports(_ service: String) -> Bool {
        services[service] != nil || ServicePolicy.googleServices.contains(exactly: service)
    }

    static func unsupported(_ service: String) -> InvalidRequest {
        InvalidRequest("Service not supported: \(SafeText.of(service))")
    }

    /// A service as it is now.
    func view(of id: String, _ state: ProtectionState) throws(InvalidRequest) -> ServiceView {
        guard supports(id) else { throw ProjectBinding.unsupported(id) }
        guard let policy = services[id] else {
            return ServiceView(
                id: id, levels: ServiceLevels(), edited: nil, updated: Instant(milliseconds: 0), isConfigured: false)
        }
        if policy.isEditable, let edit = state.services[id] {
            return ServiceView(
                id: id, levels: edit.levels, edited: edit.time, updated: edit.time, isConfigured: true)
        }
        let levels = ServiceLevels(enforcement: policy.enforcement, replayProtection: policy.replayProtection)
        return ServiceView(id: id, levels: levels, edited: nil, updated: since, isConfigured: true)
    }

    /// The resource policies in force: none if the policy does not allow administrators to set any.
    func resourcePolicies(_ state: ProtectionState) -> [ExactText: ResourcePolicy] {
        services[ResourcePolicy.service]?.isEditable == true ? state.resourcePolicies : [:]
    }

    /// - Throws: when the policy does not let administrators change a service's levels; the error names the policy's
    ///   place.
    func checkEditable(_ id: String) throws(CallFailure) {
        if let policy = services[id] {
            guard !policy.isEditable else { return }
            throw CallFailure(
                .failedPrecondition,
                "The levels of \(id) come from a policy file: change them at \(policy.location), or allow changes with "
                    + "`editable: true` there.")
        }
        throw CallFailure(
            .failedPrecondition,
            "No policy lets administrators change the levels of \(id): set them in the section `services` of the project at "
                + "\(location), or allow changes with `editable: true` there.")
    }
}
