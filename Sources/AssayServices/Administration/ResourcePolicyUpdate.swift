internal import AssayCore
internal import AssayEngine
internal import AssayKit

extension ResourcePolicy {
    /// The message of the API.
    func message(of project: ProjectIdentity) -> JSON {
        let name = "projects/\(project.number)/services/\(ResourcePolicy.service)/resourcePolicies/\(id)"
        var members = [JSONMember("name", .string(name)), JSONMember("targetResource", .string(target))]
        if enforcement != .off { members.append(JSONMember("enforcementMode", .string(enforcement.rawValue))) }
        members.append(JSONMember("updateTime", .string(updated.description)))
        members.append(JSONMember("etag", .string(etag)))
        return .object(members)
    }

    var etag: String { ETag.of(id, target, enforcement.rawValue, updated.description) }

    /// The canonical form of a target, with the project's number.
    ///
    /// - Throws: when it is not an OAuth client of the project. Policies need not name it.
    static func target(_ text: String, of project: ProjectIdentity) throws(InvalidRequest) -> String {
        let parts = text.split(onASCII: "/", maxSplits: 7).map(String.init)
        guard parts.count == 7, parts[0].isEmpty, parts[1].isEmpty, parts[2].isExactly(service),
            parts[3].isExactly("projects"),
            parts[5].isExactly("oauthClients"), ResourceName.isWord(parts[6])
        else {
            throw InvalidRequest(
                "the field 'targetResource' must be //\(service)/projects/{project_number}/oauthClients/{client_id}")
        }
        guard parts[4].isExactly(project.number) || parts[4].isExactly(project.id) else {
            throw InvalidRequest("the field 'targetResource' must be of the same project as the policy")
        }
        return target(ofClient: parts[6], in: project)
    }
}

/// A change of one resource policy that a caller asks for.
struct ResourcePolicyUpdate: Sendable {
    let id: String
    private let mask: FieldMask
    private let enforcement: EnforcementMode
    /// The target of the policy according to the caller; nil when it does not say.
    private let target: String?
    private let etag: String?

    private static let known = ["name", "targetResource", "enforcementMode", "updateTime", "etag"]

    /// - Parameter policy: the message `ResourcePolicy`.
    init(
        _ id: String, _ policy: RequestFields, mask: FieldMask, of project: ProjectIdentity
    ) throws(InvalidRequest) {
        if let unknown = mask.unknown(among: ResourcePolicyUpdate.known).first {
            throw InvalidRequest("the field mask names '\(unknown)', which a resource policy does not have")
        }
        self.id = id
        self.mask = mask
        enforcement = try policy.enforcementMode("enforcementMode")
        etag = try policy.optionalString("etag")
        guard mask.contains("targetResource") else {
            target = nil
            return
        }
        // With the mask `*`, an omitted target keeps its only possible value.
        let text = try policy.optionalString("targetResource")
        guard !text.isNil || mask.isEverything else { throw InvalidRequest("the field 'targetResource' is missing") }
        target = try text.map { (text) throws(InvalidRequest) in try ResourcePolicy.target(text, of: project) }
    }

    /// Applies the change to the state of a project, and returns the resulting policy.
    func apply(to state: inout ProtectionState, now: Instant) throws -> ResourcePolicy {
        guard var policy = state.resourcePolicies[id] else { throw CallFailure.notFound }
        try ETag.check(etag, is: policy.etag)
        if let target, !target.isExactly(policy.target) {
            throw InvalidRequest("the field 'targetResource' cannot be changed: make another policy")
        }
        guard mask.contains("enforcementMode"), policy.enforcement != enforcement else { return policy }
        policy.enforcement = enforcement
        policy.updated = now
        state.resourcePolicies[id] = policy
        return policy
    }
}
