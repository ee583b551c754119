internal import AssayCrypto
internal import AssayKit

/// How far a service is protected.
struct ServiceLevels: Sendable, Hashable {
    var enforcement = EnforcementMode.off
    var replayProtection = EnforcementMode.off
}

/// A service of a project as it is now.
struct ServiceView: Sendable {
    let id: String
    let levels: ServiceLevels
    /// When an administrator set the levels; nil when nobody has.
    let edited: Instant?
    /// When the levels came to be: by an administrator, by a policy, or never.
    let updated: Instant
    /// Whether anybody has said anything of the service.
    let isConfigured: Bool

    /// The message of the API. Levels that are OFF are left out, as proto3 has it for the first value of an enumeration.
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
    /// The validator of a resource that says just these things.
    static func of(_ parts: String...) -> String {
        of(digest: SHA256.hash(parts.flatMap { UInt64($0.utf8.count).bigEndianBytes + Array($0.utf8) }))
    }
}
