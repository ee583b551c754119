internal import AssayCore
internal import AssayKit

/// The rule for the tokens of one role, and their signer.
struct FleetEngineRule: Sendable {
    /// Which IDs of a kind may be asked for.
    enum IDs: Sendable {
        /// Those in a claim of the user's JWT.
        case claim(String)
        case any
    }

    /// Why a token is not given.
    struct Refusal: Error, Sendable {
        let reason: Reason
        let detail: String
    }

    let account: FleetEngineAccount
    let ids: [FleetEngineEntity: IDs]
    let actor: (claim: String, values: Set<ExactText>)?
    let callback: FleetEngineCallback?
    let allowsAll: Bool

    /// - Throws: ``Refusal``, or the error that keeps the callback from deciding.
    func check(_ claims: FleetEngineClaims, _ context: ConsumerContext) async throws {
        let asked = "\(claims.role.rawValue) \(claims.summary)"
        if let actor {
            guard let user = context.actor else {
                throw Refusal(reason: FleetEngineReasons.actorMissing, detail: asked)
            }
            guard user.texts(at: actor.claim).contains(where: { actor.values.contains($0) }) else {
                throw Refusal(reason: FleetEngineReasons.actor, detail: "\(asked): by `\(actor.claim)`")
            }
        }
        // For a whole fleet, or a part of it, the rule has only an actor and a callback.
        if claims.role.fleet.isEmpty {
            for entity in FleetEngineEntity.allCases {
                try check(claims.ids[entity] ?? [], of: entity, context.actor, asked)
            }
        }
        if let callback, try await !callback.allows(claims, context) {
            throw Refusal(reason: FleetEngineReasons.callback, detail: asked)
        }
    }

    private func check(
        _ wanted: [FleetEngineID], of entity: FleetEngineEntity, _ user: VerifiedActor?, _ asked: String
    ) throws(Refusal) {
        guard !wanted.isEmpty else { return }
        guard allowsAll || !wanted.contains(.all) else {
            throw Refusal(reason: FleetEngineReasons.wildcard, detail: asked)
        }
        switch ids[entity] {
        case .any?: return
        case .claim(let claim)?:
            guard let user else { throw Refusal(reason: FleetEngineReasons.actorMissing, detail: asked) }
            let texts = Set(exactly: user.texts(at: claim))
            guard wanted.allSatisfy({ texts.contains($0.text) }) else {
                throw Refusal(reason: FleetEngineReasons.id, detail: "\(asked): not in `\(claim)`")
            }
        case nil:
            // Without a rule for them, the callback alone decides.
            guard callback != nil else {
                throw Refusal(reason: FleetEngineReasons.id, detail: "\(asked): no rule for \(entity.collection)")
            }
        }
    }
}

/// The keys of a rule.
struct FleetEngineRuleKey: CodingKey, Hashable {
    @Exact private(set) var stringValue: String
    let intValue: Int? = nil

    init(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) { nil }

    static let account = FleetEngineRuleKey(stringValue: "account")
    static let actor = FleetEngineRuleKey(stringValue: "actor")
    static let callback = FleetEngineRuleKey(stringValue: "callback")
    static let wildcard = FleetEngineRuleKey(stringValue: "wildcard")

    static func ids(_ entity: FleetEngineEntity) -> FleetEngineRuleKey {
        FleetEngineRuleKey(stringValue: entity.rawValue)
    }
}

extension FleetEngineRole {
    /// The kinds of entities whose IDs the rule limits; none if it is about a whole fleet.
    var ruledEntities: [FleetEngineEntity] { fleet.isEmpty ? entities : [] }
}
