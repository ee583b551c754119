internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayPolicy

/// The rule by which the use of one token counts at one place.
///
/// Every place that accepts tokens uses it, so that a single-use token is accepted once in all places together.
///
/// | token | place | its use |
/// |---|---|---|
/// | limited-use | enforced | counts everywhere; a second one is refused |
/// | limited-use | not enforced | counts everywhere; a second one is let through |
/// | session | replay protection enforced, and `verifyAppCheckToken` | counts wherever sessions are protected from replay; a second one is refused |
/// | session | replay protection not enforced | is only counted |
/// | session | no replay protection | does not count |
///
/// A service with `consumption: separate` counts all tokens separately, by its own replay protection.
///
/// If the state is younger than a token, it is unknown whether the token was used; it then counts as used wherever a
/// second use is refused.
///
/// A token is identified by its app, its `jti` and who chose that. It is remembered until an hour after it has expired,
/// in case a clock is set back.
struct TokenConsumption: Sendable {
    /// Where the use is remembered.
    private let space: ConsumptionSpace
    /// Whether a second use is refused, and a use that cannot be stored fails.
    let isStrict: Bool
    private let accepted: TokenInspection.Accepted
    private let scope: RequestScope

    /// By what used tokens are remembered.
    ///
    /// Tokens say whole seconds, and clocks of servers differ: in its first minute a
    /// state is named by its tokens, see ``StateMark``.
    static let kind = OneTimeKind(
        longestLife: TokenLifetime.range.upperBound, skew: StateHistory.tolerance, margin: .seconds(3600))

    private init(
        _ accepted: TokenInspection.Accepted, in space: ConsumptionSpace, isStrict: Bool, _ scope: RequestScope
    ) {
        self.space = space
        self.isStrict = isStrict
        self.accepted = accepted
        self.scope = scope
    }

    /// The rule of `verifyAppCheckToken`, which consumes every token that it verifies.
    init(byVerificationOf accepted: TokenInspection.Accepted, _ scope: RequestScope) {
        self.init(accepted, in: accepted.project.verificationSpace, isStrict: true, scope)
    }

    /// The rule of a consumer or a service; nil when the use does not count.
    ///
    /// - Parameters:
    ///   - separate: the place's own space, if its policy has it count separately.
    init?(
        of accepted: TokenInspection.Accepted, enforcement: EnforcementMode, replayProtection: EnforcementMode,
        separate: ConsumptionSpace? = nil, _ scope: RequestScope
    ) {
        let isEnforced = enforcement == .enforced
        let isProtected = isEnforced && replayProtection == .enforced
        if let separate {
            guard replayProtection > .off else { return nil }
            self.init(accepted, in: separate, isStrict: isProtected, scope)
        } else if accepted.token.isLimitedUse {
            self.init(accepted, in: .shared, isStrict: isEnforced, scope)
        } else {
            guard replayProtection > .off else { return nil }
            self.init(accepted, in: isProtected ? .shared : .counted, isStrict: isProtected, scope)
        }
    }

    /// What is known of the use of a token.
    enum Finding: Sendable {
        case first
        case repeated
        /// The token may have been used before the state began; so it counts as used.
        case olderThanState

        /// The cause for the record, where the reason does not tell it.
        var detail: String? {
            guard case .olderThanState = self else { return nil }
            return "it was issued before the state began, so it is unknown whether it was used"
        }
    }

    /// What is known of the use; nothing is stored.
    ///
    /// - Throws: the error of the store.
    func find() async throws -> Finding {
        let key = space.key(of: accepted)
        let uses = scope.uses(of: Self.kind, in: key.space)
        let thing = accepted.thing(at: key, scope)
        if uses.isOlderThanState(thing) { return .olderThanState }
        return try await uses.isUsed(thing) ? .repeated : .first
    }

    /// Stores the use, and returns whether it is the first one.
    ///
    /// When it returns, the use is stored: of concurrent calls, only one is the first, also after a crash. A caller
    /// that loses the answer is told on its next try that the token was used before, unless it names its request: the
    /// same name gets the same answer again.
    ///
    /// - Parameter request: the caller's name of its request; nil when it gives none.
    /// - Throws: the error of the store, if the use is strict. It is then unknown whether the use is stored.
    func use(request: [UInt8]? = nil) async throws -> Finding {
        if isStrict { return try await insert(request) }
        // A use that is only counted must not delay a decision: a store that does not answer must not use up the
        // decision's time.
        let finding: Finding? = try? await Deadline.run(scope.timeLimit / 4, clock: scope.host.clock) {
            let finding = try await insert(nil)
            guard case .counted = space, case .first = finding else { return finding }
            // A use that would be refused if the level were enforced.
            let shared = ConsumptionSpace.shared.key(of: accepted)
            return try await scope.host.store.get(shared) == nil ? .first : .repeated
        }
        return finding ?? .first
    }

    private func insert(_ request: [UInt8]?) async throws -> Finding {
        let key = space.key(of: accepted)
        // A use that is only counted is stored also when it is unknown whether it is the first one.
        let thing =
            isStrict
            ? accepted.thing(at: key, scope) : OneTimeThing(key.name, untimedUntil: accepted.token.expires)
        switch try await scope.uses(of: Self.kind, in: key.space).use(thing, value: request ?? []) {
        case .first: return .first
        case .used(let earlier): return request == earlier ? .first : .repeated
        case .olderThanState: return .olderThanState
        }
    }
}

extension TokenInspection.Accepted {
    /// The token as something that is valid once.
    fileprivate func thing(at key: StateKey, _ scope: RequestScope) -> OneTimeThing {
        OneTimeThing(
            key.name, made: token.issued, end: token.expires,
            isOfThisState: token.state.isExactly(scope.stateMark.text))
    }

    /// Whether the token was consumed in any space, as far as that is known.
    ///
    /// - Throws: the error of the store.
    func isConsumedAnywhere(_ scope: RequestScope) async throws -> Bool {
        let store = scope.host.store
        let shared = ConsumptionSpace.shared.key(of: self)
        let uses = scope.uses(of: TokenConsumption.kind, in: shared.space)
        if token.isLimitedUse, uses.isOlderThanState(thing(at: shared, scope)) { return true }
        var keys = [shared]
        if case .verification = project.verificationSpace { keys.append(ConsumptionSpace.verification.key(of: self)) }
        for service in project.services.values where service.consumption == .separate {
            keys.append(ConsumptionSpace.service(service.id).key(of: self))
        }
        for key in keys where try await store.get(key) != nil { return true }
        return false
    }
}

extension ConsumptionSpace {
    /// The key of an app's token, made of its `jti` and who chose that: a digest, because a `jti` may be as long as a
    /// store's longest name.
    func key(of accepted: TokenInspection.Accepted) -> StateKey {
        let resource = Array(accepted.app.identity.resource.utf8)
        let count = UInt64(resource.count).bigEndianBytes[...]
        let id = Array(accepted.token.id.utf8)
        guard let chooser = accepted.token.idChooser.map({ Array($0.utf8) }) else {
            return StateKey(name, Hex.encode(SHA256.hash(count, resource[...], id[...])))
        }
        let digest = SHA256.hash(
            count, resource[...], UInt64(chooser.count).bigEndianBytes[...], chooser[...], id[...])
        return StateKey(name, "chosen/\(Hex.encode(digest))")
    }
}
