internal import AssayCore
internal import AssayEngine
internal import AssayKit

/// The methods of `projects/*/services/*/resourcePolicies/*`, which exist for OAuth clients.
extension Administration {
    private static let collection = "/services/{serviceId}/resourcePolicies"
    private static let member = "\(collection)/{resourcePolicyId}"

    static let resourcePolicies: [KernelMethod] = [
        adminMethod(
            "listResourcePolicies", MethodPath(.get, collection, query: ["pageSize", "pageToken", "filter"]),
            MessageShape(AdministrationShapes.page) + [.optional("filter", .text)],
            reply: AdministrationShapes.list("resourcePolicies", of: AdministrationShapes.resourcePolicyReply)
        ) { call in
            let project = try call.projectOfResources()
            let page = try ListPage(call.fields)
            let filter = try ResourcePolicyFilter(try call.fields.optionalString("filter") ?? "")
            let state = try await ProtectionState.read(of: project.identity, in: call.host.store)
            let policies = call.services(of: project).resourcePolicies(state).values.filter(filter.matches).sorted {
                $0.id.precedesExactly($1.id)
            }
            return .answered(
                page.reply("resourcePolicies", policies.map { ($0.id, $0.message(of: project.identity)) }))
        },
        adminMethod(
            "getResourcePolicy", MethodPath(.get, member), reply: AdministrationShapes.resourcePolicyReply
        ) { call in
            let project = try call.projectOfResources()
            let id = try call.fields.string("resourcePolicyId")
            let state = try await ProtectionState.read(of: project.identity, in: call.host.store)
            guard let policy = call.services(of: project).resourcePolicies(state)[id] else {
                throw CallFailure.notFound
            }
            return .answered(policy.message(of: project.identity))
        },
        adminMethod(
            "createResourcePolicy", MethodPath(.post, collection, body: .field("resourcePolicy")),
            [.required("resourcePolicy", .message(AdministrationShapes.newResourcePolicy))],
            reply: AdministrationShapes.resourcePolicyReply
        ) { call in
            let project = try call.projectOfResources()
            let fields = try call.fields.message("resourcePolicy") ?? RequestFields([:])
            let policy = ResourcePolicy(
                id: UUID4.text(call.host.randomness),
                target: try ResourcePolicy.target(try fields.string("targetResource"), of: project.identity),
                enforcement: try fields.enforcementMode("enforcementMode"), updated: call.now)
            try await update(call) { state in try state.add(policy) }
            return .answered(policy.message(of: project.identity), facts: [policy.fact])
        },
        adminMethod(
            "updateResourcePolicy",
            MethodPath(.patch, member, body: .field("resourcePolicy"), query: ["updateMask"]),
            AdministrationShapes.update("resourcePolicy", AdministrationShapes.resourcePolicy),
            reply: AdministrationShapes.resourcePolicyReply
        ) { call in
            let project = try call.projectOfResources()
            let change = try ResourcePolicyUpdate(
                try call.fields.string("resourcePolicyId"),
                try call.fields.message("resourcePolicy") ?? RequestFields([:]),
                mask: try call.fields.requiredFieldMask(), of: project.identity)
            let policy = try await update(call) { state in try change.apply(to: &state, now: call.now) }
            return .answered(policy.message(of: project.identity), facts: [policy.fact])
        },
        adminMethod(
            "deleteResourcePolicy", MethodPath(.delete, member, query: ["etag"]), [.optional("etag", .text)], reply: []
        ) { call in
            _ = try call.projectOfResources()
            let id = try call.fields.string("resourcePolicyId")
            let etag = try call.fields.optionalString("etag")
            try await update(call) { state in
                guard let policy = state.resourcePolicies[id] else { throw CallFailure.notFound }
                try ETag.check(etag, is: policy.etag)
                state.resourcePolicies[id] = nil
            }
            return .answered([:], facts: [Fact(.resourceLevel, .text("\(id) deleted"))])
        },
        adminMethod(
            "batchUpdateResourcePolicies", MethodPath(.post, "\(collection):batchUpdate"),
            AdministrationShapes.batch("resourcePolicy", AdministrationShapes.resourcePolicy),
            reply: [
                .optional(
                    "resourcePolicies", .list(.message(AdministrationShapes.resourcePolicyReply), atMost: batchLimit))
            ]
        ) { call in
            let project = try call.projectOfResources()
            var changes: [ResourcePolicyUpdate] = []
            for (request, mask) in try call.fields.batch(batchLimit) {
                guard let policy = try request.message("resourcePolicy") else {
                    throw InvalidRequest("the field 'resourcePolicy' is missing")
                }
                let id = try call.child(
                    of: "services/\(ResourcePolicy.service)/resourcePolicies", named: try policy.string("name"))
                guard !changes.contains(where: { $0.id.isExactly(id) }) else {
                    throw InvalidRequest("a batch may have each resource policy only once")
                }
                changes.append(try ResourcePolicyUpdate(id, policy, mask: mask, of: project.identity))
            }
            let policies = try await update(call) { state in
                try changes.map { try $0.apply(to: &state, now: call.now) }
            }
            return .answered(
                ["resourcePolicies": .array(policies.map { $0.message(of: project.identity) })],
                facts: policies.map(\.fact))
        },
    ]

    private static func update<Value>(
        _ call: KernelCall, _ change: (inout ProtectionState) throws -> Value
    ) async throws -> Value {
        let project = try call.project()
        try call.services(of: project).checkEditable(ResourcePolicy.service)
        let value = try await ProtectionState.update(
            of: project.identity, in: call.host.store, now: call.now, change)
        await call.refreshProtection(of: project.identity)
        return value
    }
}

extension ProtectionState {
    /// How many resource policies a project may have: as many as fit in one document.
    private static let policyLimit = 1000

    fileprivate mutating func add(_ policy: ResourcePolicy) throws(CallFailure) {
        guard !resourcePolicies.values.contains(where: { $0.target.isExactly(policy.target) }) else {
            throw CallFailure(.alreadyExists, "The resource has a policy already.")
        }
        guard resourcePolicies.count < ProtectionState.policyLimit else {
            throw CallFailure(
                .resourceExhausted, "A project may have at most \(ProtectionState.policyLimit) resource policies.")
        }
        resourcePolicies[policy.id] = policy
    }
}

extension ResourcePolicy {
    /// The fact about a change for the record.
    fileprivate var fact: Fact { Fact(.resourceLevel, .text("\(target) \(enforcement.rawValue)")) }
}

extension KernelCall {
    /// The project, if the path names the service whose resources can have policies.
    fileprivate func projectOfResources() throws -> ProjectBinding {
        let id = try fields.string("serviceId")
        guard id.isExactly(ResourcePolicy.service) else { throw ProjectServices.unsupported(id) }
        return try project()
    }
}
