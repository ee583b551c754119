internal import AssayCore
internal import AssayHosting
internal import AssayJWT
internal import AssayKit

/// One request to a consumer after the gate: finds the instance, which prepares and answers the request.
struct ConsumerCall: Sendable {
    let scope: RequestScope

    /// Calls a method of a consumer.
    nonisolated(nonsending) func answer(by plugin: ConsumerPlugin) async -> CallOutcome {
        let call = scope.call
        do {
            guard let selection = plugin.selections[call.method] else { throw ConsumerCall.absent }
            let fields = try RequestFields(call.body, bytesLimit: plugin.descriptor.limits.evidence)
            let consumer: ConsumerBinding
            do {
                consumer = try find(plugin, selection, fields)
            } catch let error as InvalidRequest {
                throw error
            } catch {
                // A caller with some projects only must not learn what other projects have.
                if let caller = scope.caller, !caller.mayAct(in: nil) { return .forbidden(caller, in: nil) }
                throw error
            }
            return await answer(by: consumer, fields).about(consumer)
        } catch {
            return .ended(by: error)
        }
    }

    private nonisolated(nonsending) func answer(by consumer: ConsumerBinding, _ fields: RequestFields) async
        -> CallOutcome
    {
        if let caller = scope.caller, !caller.mayAct(in: consumer.project.identity) {
            return .forbidden(caller, in: consumer.project.identity)
        }
        do {
            guard let method = consumer.instance.methods[scope.call.method] else { throw ConsumerCall.absent }
            let prepared = try await scope.reading(consumer.pluginGuard) { try method.prepare(fields) }
            var outcome: CallOutcome
            if method.takesToken {
                outcome = await redeem(Redemption(prepared, method, consumer, scope))
            } else {
                outcome = await decide(.prepared(prepared.answer), by: consumer, context(consumer))
            }
            if !outcome.isAnswered || outcome.waived != nil { outcome = consumer.adding(prepared.facts(), to: outcome) }
            return outcome
        } catch {
            return .ended(by: error)
        }
    }

    /// The outcome when no policy has the consumer, or the request names an unknown one.
    ///
    /// The response does not reveal which consumers exist.
    static let absent = absent(nil)

    /// - Parameter detail: what was asked for in vain, for the record only.
    static func absent(_ detail: String?) -> CallFailure {
        CallFailure(
            .notFound, "Requested entity was not found.", reason: KernelReasons.consumerUnknown, detail: detail,
            oauthError: "invalid_target")
    }
}

extension CallOutcome {
    /// The same, about a consumer of a project.
    func about(_ consumer: ConsumerBinding) -> CallOutcome {
        var outcome = self
        outcome.resource = consumer.project.name
        outcome.facts.insert(Fact(.consumer, .text(consumer.descriptor.name)), at: 0)
        return outcome
    }
}

// MARK: - Finding the instance

extension ConsumerCall {
    private func find(
        _ plugin: ConsumerPlugin, _ selection: ConsumerSelection, _ fields: RequestFields
    ) throws -> ConsumerBinding {
        let name = plugin.descriptor.name
        let consumers = scope.snapshot.policies.consumers
        switch selection {
        case .audience(let field):
            if let audience = try fields.optionalString(field) { return try found(name, audience) }
            let all = consumers.all(name)
            guard all.count == 1, let consumer = all.first, consumer.instance.audiences.count <= 1 else {
                throw ConsumerCall.missing(field)
            }
            return consumer
        case .section(let field, let tokenField):
            if let audience = try fields.optionalString(field) { return try found(name, audience) }
            let all = consumers.all(name).filter { scope.caller?.mayAct(in: $0.project.identity) ?? true }
            if all.count == 1, let consumer = all.first { return consumer }
            let token = try tokenField.flatMap { name throws(InvalidRequest) in
                try fields.optionalString(name.string)
            }
            guard let issuer = token.flatMap({ JWTClaims.issuer(ofUnverified: $0) }),
                let consumer = all.first(where: { $0.project.issuer.isExactly(issuer) })
            else { throw ConsumerCall.missing(field) }
            return consumer
        case .resource:
            guard case .project(let project)? = scope.snapshot.policies.find(scope.call.resource) else {
                throw ConsumerCall.absent("no policy has '\(SafeText.asked(scope.call.resource))'")
            }
            guard let consumer = consumers.byProject[project.name]?[name] else {
                throw ConsumerCall.absent("the project \(project.identity.id) has no consumer \(name)")
            }
            return consumer
        case .tokenProject:
            guard let project = try tokenProject(scope.call.token) else { throw ConsumerCall.absent }
            guard let consumer = consumers.byProject[project.name]?[name] else {
                throw ConsumerCall.absent("the token's project \(project.identity.id) has no consumer \(name)")
            }
            return consumer
        }
    }

    private func found(_ consumer: String, _ audience: String) throws -> ConsumerBinding {
        guard let found = scope.snapshot.policies.consumers.find(consumer, audience: audience) else {
            throw ConsumerCall.absent("no \(consumer) has the name '\(SafeText.asked(audience))'")
        }
        return found
    }

    /// The request does not say which instance it is for, and nothing else decides it.
    ///
    /// The response does not reveal how many there are.
    private static func missing(_ field: String) -> InvalidRequest {
        InvalidRequest("the field '\(field)' is missing: the request does not say which consumer it is for")
    }

    /// The project that the token claims to be for.
    ///
    /// Nothing is verified at this point.
    ///
    /// - Throws: `CallFailure` when the token names no known project.
    func tokenProject(_ token: PresentedToken?) throws -> ProjectBinding? {
        let projects = scope.snapshot.policies.projectsByIssuer
        if projects.count == 1 { return projects.values.first }
        do throws(TokenInspection.Refusal) {
            let text = try TokenAdmission.text(of: token)
            if let project = JWTClaims.issuer(ofUnverified: text).flatMap({ projects[$0] }) { return project }
            // Any project's rules find what is wrong with the token.
            guard let any = projects.values.min(by: { $0.issuer.precedesExactly($1.issuer) }) else { return nil }
            _ = try TokenAdmission(scope: scope, project: any, demand: TokenDemand()).judge(text)
        } catch {
            throw CallFailure(error)
        }
        return nil
    }
}
