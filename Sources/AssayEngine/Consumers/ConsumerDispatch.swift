internal import AssayJWT
internal import AssayKit

/// One request to a consumer on its way through one snapshot.
final class ConsumerDispatch: Sendable {
    let scope: DecisionScope
    let call: Call
    /// Whose permission was checked; nil where none is demanded.
    let caller: Caller?

    var snapshot: Snapshot { scope.snapshot }
    var now: Instant { scope.now }
    var host: PluginHost { scope.host }
    var timeLimit: Duration { scope.timeLimit }

    init(_ scope: DecisionScope, call: Call, caller: Caller?) {
        self.scope = scope
        self.call = call
        self.caller = caller
    }

    /// What came of a request: who and what it was about, and how it ended.
    struct Outcome: Sendable {
        var consumer: ConsumerEntry?
        var ending: CallOutcome
    }

    /// Calls a method of a consumer.
    func run(_ method: String, of consumer: RegisteredConsumer) async -> Outcome {
        var found: ConsumerEntry?
        do {
            guard let door = consumer.doors[method] else { throw ConsumerDispatch.absent }
            let fields = try RequestFields(call.body, bytesLimit: consumer.descriptor.evidenceLimit)
            let entry: ConsumerEntry
            do {
                entry = try find(consumer, door.selection, fields)
            } catch let error as InvalidRequest {
                throw error
            } catch {
                // Whoever is kept to some projects must not learn what others have.
                if let caller, !caller.mayAct(in: nil) {
                    return Outcome(consumer: nil, ending: .forbidden(caller, in: nil))
                }
                throw error
            }
            found = entry
            if let caller, !caller.mayAct(in: entry.project.identity) {
                return Outcome(consumer: entry, ending: .forbidden(caller, in: entry.project.identity))
            }
            guard let prepare = entry.bound.methods[method] else { throw ConsumerDispatch.absent }
            let prepared = try prepare(fields)
            var ending: CallOutcome
            do {
                ending =
                    door.takesToken
                    ? try await redeem(Redemption(prepared, entry, call, caller: caller))
                    : try await decide(prepared.answer.map { entry.settle($0) }, context(entry))
            } catch {
                ending = ConsumerDispatch.ending(error)
            }
            if !ending.isAnswered || ending.waived != nil { ending = entry.adding(prepared.facts(), to: ending) }
            return Outcome(consumer: entry, ending: ending)
        } catch {
            return Outcome(consumer: found, ending: ConsumerDispatch.ending(error))
        }
    }

    static func ending(_ error: any Error) -> CallOutcome {
        switch error {
        case let error as InvalidRequest: .rejected(.invalidArgument, error.message)
        case let error as CallFailure: .failed(error)
        default: .unavailable("\(error)")
        }
    }

    /// What the client would be told of an error; nil where nothing could be decided.
    static func failure(of error: any Error) -> CallFailure? {
        error as? CallFailure
    }

    /// No policy has the consumer, or a request names one that there is not. What there is nobody learns.
    static let absent = CallFailure(
        .notFound, "Requested entity was not found.", reason: KernelReasons.consumerUnknown,
        oauthError: "invalid_target")

    private func find(
        _ consumer: RegisteredConsumer, _ selection: ConsumerSelection, _ fields: RequestFields
    ) throws -> ConsumerEntry {
        let name = consumer.descriptor.name
        let entries = snapshot.policies.consumers
        switch selection {
        case .audience(let field):
            if let audience = try fields.optionalString(field) { return try found(name, audience) }
            let all = entries.all(name)
            guard all.count == 1, let entry = all.first, entry.bound.audiences.count <= 1 else {
                throw ConsumerDispatch.missing(field)
            }
            return entry
        case .section(let field, let tokenField):
            if let audience = try fields.optionalString(field) { return try found(name, audience) }
            let all = entries.all(name).filter { caller?.mayAct(in: $0.project.identity) ?? true }
            if all.count == 1, let entry = all.first { return entry }
            let issuer = try tokenField.flatMap { name throws(InvalidRequest) in try fields.optionalString(name.string)
            }
            .flatMap { JWTClaims.issuer(ofUnverified: $0) }
            guard let issuer, let entry = all.first(where: { $0.project.issuer.isExactly(issuer) }) else {
                throw ConsumerDispatch.missing(field)
            }
            return entry
        case .resource:
            guard case .project(let project)? = snapshot.policies.find(call.resource),
                let entry = entries.byProject[project.name]?[name]
            else { throw ConsumerDispatch.absent }
            return entry
        case .tokenProject:
            guard let project = try tokenProject(call.token),
                let entry = entries.byProject[project.name]?[name]
            else { throw ConsumerDispatch.absent }
            return entry
        }
    }

    private func found(_ consumer: String, _ audience: String) throws -> ConsumerEntry {
        guard let entry = snapshot.policies.consumers.find(consumer, audience: audience) else {
            throw ConsumerDispatch.absent
        }
        return entry
    }

    /// A request does not say what it is for, and nothing else does. It is not told how many there are, or whether any.
    private static func missing(_ field: String) -> InvalidRequest {
        InvalidRequest("the field '\(field)' is missing: without it, it is not clear whom the request is for")
    }

    /// The project that the token says it is for. Nothing is verified yet.
    ///
    /// - Throws: ``CallFailure`` when it says nothing that is known here.
    func tokenProject(_ token: PresentedToken?) throws -> ProjectEntry? {
        let projects = snapshot.policies.projectsByIssuer
        if projects.count == 1 { return projects.values.first }
        switch token {
        case .one(let text)?:
            if let project = JWTClaims.issuer(ofUnverified: text).flatMap({ projects[$0] }) { return project }
            // Whatever is wrong with it is found by any project's rules.
            guard let any = projects.values.min(by: { $0.issuer.precedesExactly($1.issuer) }) else { return nil }
            _ = try refusing { () throws(TokenInspection.Refusal) in try admission(any, TokenDemand()).judge(text) }
            return nil
        case nil: throw ConsumerDispatch.failure(TokenInspection.Refusal(reason: KernelReasons.tokenMissing))
        case .several?: throw ConsumerDispatch.failure(TokenInspection.Refusal(reason: KernelReasons.tokenRepeated))
        case .inURL?: throw ConsumerDispatch.failure(TokenInspection.Refusal(reason: KernelReasons.tokenInURL))
        }
    }

    private func refusing<T>(_ body: () throws(TokenInspection.Refusal) -> T) throws(CallFailure) -> T {
        do throws(TokenInspection.Refusal) {
            return try body()
        } catch {
            throw ConsumerDispatch.failure(error)
        }
    }

    func admission(_ project: ProjectEntry, _ demand: TokenDemand) -> TokenAdmission {
        TokenAdmission(scope: scope, project: project, demand: demand)
    }
}
