package import AssayCore
package import AssayKit
internal import AssayPolicy
internal import AssayVerifier

/// Which instance of a consumer a request is for: the only place where that is decided.
package struct ConsumerChoice {
    let policies: BoundPolicies
    let plugin: ConsumerPlugin
    /// The name of the resource in the request.
    let resource: String
    /// The caller whose permission was checked; nil where none is needed.
    let caller: Caller?

    package init(policies: BoundPolicies, plugin: ConsumerPlugin, resource: String, caller: Caller?) {
        self.policies = policies
        self.plugin = plugin
        self.resource = resource
        self.caller = caller
    }

    /// The instance that a request of a method is for.
    ///
    /// - Parameter tokenProject: the project that the request's token claims to be for.
    /// - Throws: `InvalidRequest` when the request does not say which one; `CallFailure` when there is none.
    package func consumer(
        _ selection: ConsumerSelection, _ fields: RequestFields, tokenProject: () throws -> ProjectBinding?
    ) throws -> ConsumerBinding {
        let name = plugin.descriptor.name
        let consumers = policies.consumers
        switch selection {
        case .audience(let field):
            if let audience = try fields.optionalString(field) { return try found(name, audience) }
            let all = consumers.all(name)
            guard all.count == 1, let consumer = all.first, consumer.instance.audiences.count <= 1 else {
                throw Self.missing(field)
            }
            return consumer
        case .section(let field, let tokenField):
            if let audience = try fields.optionalString(field) { return try found(name, audience) }
            let all = consumers.all(name).filter { caller?.mayAct(in: $0.project.identity) ?? true }
            if all.count == 1, let consumer = all.first { return consumer }
            let token = try tokenField.flatMap { name throws(InvalidRequest) in
                try fields.optionalString(name.string)
            }
            guard let issuer = token.flatMap({ JWTClaims.issuer(ofUnverified: $0) }),
                let consumer = all.first(where: { $0.project.issuer.isExactly(issuer) })
            else { throw Self.missing(field) }
            return consumer
        case .resource:
            guard case .project(let project)? = policies.find(resource) else {
                throw CallFailure.absentConsumer("no policy has '\(SafeText.asked(resource))'")
            }
            guard let consumer = consumers.byProject[project.name]?[name] else {
                throw CallFailure.absentConsumer("the project \(project.identity.id) has no consumer \(name)")
            }
            return consumer
        case .tokenProject:
            guard let project = try tokenProject() else { throw CallFailure.absentConsumer() }
            guard let consumer = consumers.byProject[project.name]?[name] else {
                throw CallFailure.absentConsumer("the token's project \(project.identity.id) has no consumer \(name)")
            }
            return consumer
        }
    }

    private func found(_ consumer: String, _ audience: String) throws -> ConsumerBinding {
        guard let found = policies.consumers.find(consumer, audience: audience) else {
            throw CallFailure.absentConsumer("no \(consumer) has the name '\(SafeText.asked(audience))'")
        }
        return found
    }

    /// The request does not say which instance it is for, and nothing else decides it.
    ///
    /// The response does not reveal how many there are.
    private static func missing(_ field: String) -> InvalidRequest {
        InvalidRequest("the field '\(field)' is missing: the request does not say which consumer it is for")
    }
}
