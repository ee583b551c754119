internal import AssayKit

/// A request with a token, or without one where the policy does not enforce it: what is shown, what is demanded, and who
/// decides when that is met.
struct Redemption: Sendable {
    let entry: ConsumerEntry
    let token: PresentedToken?
    /// The user's JWT; nil where there is none, or nobody would look at it.
    let actor: BearerToken?
    let demand: TokenDemand
    /// What the request is counted for.
    let service: String
    /// Whether it counts as a call for the app, of which the policy may let only some through.
    let isLimited: Bool
    let answer: ConsumerAnswer<Ending>

    var isEnforced: Bool { demand.enforcement == .enforced }
}

extension Redemption {
    /// What a method of a consumer read of a call.
    ///
    /// - Parameter caller: whose permission was checked by the call's credentials; nil where they name a user.
    init(_ prepared: PreparedRedemption, _ entry: ConsumerEntry, _ call: Call, caller: Caller?) {
        var demand = prepared.demand(entry.demand)
        if !prepared.mayBeUnenforced { demand.enforcement = .enforced }
        self.init(
            entry: entry, token: call.token,
            actor: caller == nil && !entry.actors.isEmpty ? call.credentials : nil, demand: demand,
            service: prepared.service ?? entry.descriptor.name, isLimited: !prepared.mayBeUnenforced,
            answer: prepared.answer.map { entry.settle($0) })
    }

    /// How it is counted.
    func use(_ app: String?, _ category: TokenUse.Category, isAdmitted: Bool) -> TokenUse {
        TokenUse(
            project: entry.project.identity.number, service: service, app: app, category: category,
            enforcement: demand.enforcement, isAdmitted: isAdmitted)
    }
}

extension ConsumerEntry {
    /// How a decision of the consumer ends a call.
    func settle(_ verdict: ConsumerVerdict) -> Ending {
        switch verdict {
        case .granted(let reply):
            guard states(reply.facts) else { return undeclaredFact }
            return .answered(reply.message, facts: reply.facts)
        case .refused(let reason, let detail):
            return refused(reason, detail)
        }
    }

    /// How a decision about token exchange ends a call.
    func settle(_ verdict: ExchangeVerdict) -> Ending {
        switch verdict {
        case .refused(let reason, let detail):
            return refused(reason, detail)
        case .granted(let token):
            guard states(token.facts) else { return undeclaredFact }
            var members = [
                JSONMember("access_token", .string(token.text)),
                JSONMember("issued_token_type", .string(token.type.uri)),
                JSONMember("token_type", .string(token.use)),
                JSONMember("expires_in", .integer(token.life.wholeSeconds)),
            ]
            var names = Set(members.map(\.name))
            guard token.fields.allSatisfy({ names.insert($0.name).inserted }) else {
                return .fault("the consumer \(descriptor.name) replies with a field twice, or with the kernel's")
            }
            members += token.fields.map { JSONMember($0.name, $0.value) }
            return .answered(.object(members), facts: token.facts)
        }
    }

    private func refused(_ reason: Reason, _ detail: String?) -> Ending {
        guard descriptor.reasons.contains(reason) else {
            return .fault("the consumer \(descriptor.name) refused with an undeclared reason")
        }
        return .failed(
            CallFailure(
                .permissionDenied, "The request is not allowed.", reason: reason, detail: detail,
                oauthError: "invalid_target"))
    }

    /// Whether all facts are among those that the consumer declares.
    private func states(_ facts: [Fact]) -> Bool {
        facts.allSatisfy { descriptor.facts.contains($0.name) }
    }

    private var undeclaredFact: Ending { .fault("the consumer \(descriptor.name) states an undeclared fact") }
}
