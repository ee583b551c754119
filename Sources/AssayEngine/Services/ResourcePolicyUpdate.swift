internal import AssayKit

/// A change of one resource policy that a caller asks for.
struct ResourcePolicyUpdate: Sendable {
    let id: String
    private let mask: FieldMask
    private let enforcement: EnforcementMode
    /// What the policy is said to be about; nil when nothing is said.
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
        // With the mask `*`, what is left out stays what it must be anyway.
        let text = try policy.optionalString("targetResource")
        guard !text.isNil || mask.isEverything else { throw InvalidRequest("the field 'targetResource' is missing") }
        target = try text.map { (text) throws(InvalidRequest) in try ResourcePolicy.target(text, of: project) }
    }

    /// Applies it to the state of a project, and returns the policy as it is then.
    func apply(to state: inout ProtectionState, now: Instant) throws -> ResourcePolicy {
        guard var policy = state.resourcePolicies[id] else { throw KernelCall.notFound }
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
