package import AssayCore
internal import AssayCrypto
internal import AssayKit

/// The level of protection of a service.
package struct ServiceLevels: Sendable, Hashable {
    package var enforcement = EnforcementMode.off
    package var replayProtection = EnforcementMode.off
}

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

extension ETag {
    /// The validator of a resource with exactly these contents.
    static func of(_ parts: String...) -> String {
        of(digest: SHA256.hash(parts.flatMap { UInt64($0.utf8.count).bigEndianBytes + Array($0.utf8) }))
    }
}
