internal import AssayCore
internal import AssayKit
internal import AssayVerifier

/// One request to a consumer after the gate: finds the instance, which prepares and answers the request.
struct ConsumerCall: Sendable {
    let scope: RequestScope

    /// Calls a method of a consumer.
    nonisolated(nonsending) func answer(by plugin: ConsumerPlugin) async -> CallOutcome {
        let call = scope.call
        do {
            guard let selection = plugin.selections[call.method] else { throw CallFailure.absentConsumer() }
            let fields = try RequestFields(call.body, bytesLimit: plugin.descriptor.limits.evidence)
            let consumer: ConsumerBinding
            do {
                let choice = ConsumerChoice(
                    policies: scope.snapshot.policies, plugin: plugin, resource: call.resource, caller: scope.caller)
                consumer = try choice.consumer(selection, fields) { try tokenProject(call.token) }
            } catch let error as InvalidRequest {
                throw error
            } catch {
                // A caller with some projects only must not learn what other projects have.
                if let refusal = scope.caller?.refusal(in: nil) { return refusal }
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
        if let refusal = scope.caller?.refusal(in: consumer.project.identity) { return refusal }
        do {
            guard let method = consumer.instance.methods[scope.call.method] else { throw CallFailure.absentConsumer() }
            let prepared = try await scope.reading(consumer.pluginGuard) { try method.prepare(fields) }
            var outcome: CallOutcome
            if method.takesToken {
                let levels = try await levels(of: prepared, consumer)
                outcome = await redeem(Redemption(prepared, method, consumer, scope, levels))
            } else {
                outcome = await decide(.prepared(prepared.answer), by: consumer, context(consumer))
            }
            if !outcome.isAnswered || outcome.waived != nil { outcome = consumer.adding(prepared.facts(), to: outcome) }
            return outcome
        } catch {
            return .ended(by: error)
        }
    }

    /// The levels that administrators may have set for the service that a request is for; nil where they may not.
    ///
    /// - Throws: the store's error, if they have never been read.
    private nonisolated(nonsending) func levels(
        of prepared: PreparedRequest, _ consumer: ConsumerBinding
    ) async throws -> SetLevels? {
        guard !prepared.inherits.isEmpty else { return nil }
        let name = prepared.service ?? consumer.descriptor.name
        guard let service = consumer.services.first(where: { $0.id.isExactly(name) }) else {
            throw PluginFault(
                "the consumer \(consumer.descriptor.name) takes levels from a service that none of its `demands` is for: "
                    + SafeText.of(name))
        }
        guard service.isEditable else { return nil }
        return SetLevels(
            service: service, services: scope.snapshot.policies.services(of: consumer.project),
            state: try await scope.protection(of: consumer.project.identity))
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
    /// The project that the token claims to be for.
    ///
    /// Nothing is verified at this point.
    ///
    /// - Throws: `CallFailure` when the token names no known project.
    func tokenProject(_ token: PresentedToken?) throws -> ProjectBinding? {
        let projects = scope.snapshot.policies.projectsByIssuer
        if projects.count == 1 { return projects.values.first }
        do throws(TokenInspection.Refusal) {
            let text = try TokenInspection.text(of: token)
            if let project = JWTClaims.issuer(ofUnverified: text).flatMap({ projects[$0] }) { return project }
            // Any project's rules find what is wrong with the token.
            guard let any = projects.values.min(by: { $0.issuer.precedesExactly($1.issuer) }) else { return nil }
            _ = try TokenInspection(scope: scope, project: any, demand: TokenDemand()).judge(text)
        } catch {
            throw CallFailure(error)
        }
        return nil
    }
}
