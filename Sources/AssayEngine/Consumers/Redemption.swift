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
    let answer: ConsumerAnswer<CallOutcome>

    var isEnforced: Bool { demand.enforcement == .enforced }
}

extension Redemption {
    /// What a method of a consumer read of a call.
    ///
    /// - Parameter caller: whose permission was checked by the call's credentials; nil where they name a user.
    init(_ prepared: PreparedRedemption, _ entry: ConsumerEntry, _ call: Call, caller: Caller?) {
        var demand = prepared.demand(entry.demand)
        if !prepared.allowsUnenforced { demand.enforcement = .enforced }
        self.init(
            entry: entry, token: call.token,
            actor: caller == nil && !entry.actors.isEmpty ? call.credentials : nil, demand: demand,
            service: prepared.service ?? entry.descriptor.name, isLimited: !prepared.allowsUnenforced,
            answer: prepared.answer.map { entry.settle($0) })
    }

    /// How it is counted.
    func use(_ app: String?, _ category: TokenUse.Category) -> TokenCount {
        TokenCount(
            project: entry.project.identity.number, service: service, app: app, category: category,
            enforcement: demand.enforcement)
    }
}
