internal import AssayCore
internal import AssayKit
internal import AssayPolicy
internal import AssayState

/// How the use of one token counts at one place.
///
/// Every place that accepts tokens asks here, so that a single-use token is accepted once, wherever it is shown.
///
/// | token | place | its use |
/// |---|---|---|
/// | limited-use | enforced | counts everywhere; a second one is refused |
/// | limited-use | not enforced | counts everywhere; a second one is let through |
/// | session | replay protection enforced, and `verifyAppCheckToken` | counts wherever sessions are protected from replay; a second one is refused |
/// | session | replay protection not enforced | is only counted |
/// | session | no replay protection | does not count |
///
/// A service with `consumption: separate` counts all tokens by its replay protection, and by itself.
///
/// Where the state is younger than a token, whether it was used is not known, and it counts as used wherever a second use is
/// refused.
///
/// A token is known by its app, its `jti` and who chose that. It is remembered until it has expired and an hour longer,
/// should a clock be set back.
struct TokenConsumption: Sendable {
    /// Where the use is remembered.
    private let space: ConsumptionSpace
    private let former: ConsumptionSpace.Former
    /// Whether a second use is refused, and a use that cannot be remembered fails.
    let isStrict: Bool
    private let accepted: TokenInspection.Accepted
    private let scope: RequestScope

    private static let memory = Duration.seconds(3600)

    private init(
        _ accepted: TokenInspection.Accepted, in space: ConsumptionSpace, former: ConsumptionSpace.Former,
        isStrict: Bool,
        _ scope: RequestScope
    ) {
        self.space = space
        self.former = former
        self.isStrict = isStrict
        self.accepted = accepted
        self.scope = scope
    }

    /// By `verifyAppCheckToken`, which consumes whatever it verifies.
    init(byVerificationOf accepted: TokenInspection.Accepted, _ scope: RequestScope) {
        self.init(accepted, in: accepted.project.verificationSpace, former: .verification, isStrict: true, scope)
    }

    /// At a consumer or at a service; nil where the use does not count.
    ///
    /// - Parameters:
    ///   - separate: the place's own space, where its policy has it count by itself.
    init?(
        of accepted: TokenInspection.Accepted, enforcement: EnforcementMode, replayProtection: EnforcementMode,
        separate: ConsumptionSpace? = nil, _ scope: RequestScope
    ) {
        let isEnforced = enforcement == .enforced
        let isProtected = isEnforced && replayProtection == .enforced
        if let separate {
            guard replayProtection > .off else { return nil }
            self.init(accepted, in: separate, former: .services, isStrict: isProtected, scope)
        } else if accepted.token.isLimitedUse {
            self.init(accepted, in: .shared, former: .services, isStrict: isEnforced, scope)
        } else {
            guard replayProtection > .off else { return nil }
            self.init(accepted, in: isProtected ? .shared : .counted, former: .services, isStrict: isProtected, scope)
        }
    }

    /// Whether the use of another request is remembered already.
    ///
    /// - Throws: what the store throws.
    func isRepeated() async throws -> Bool {
        if isStrict, isOlderThanState { return true }
        if try await scope.host.store.get(space.key(of: accepted)) != nil { return true }
        return try await usedFormerly() != nil
    }

    /// Remembers the use, and returns whether it is the first one.
    ///
    /// When it returns, the use is stored: of any number of calls at the same time, one is told that it is the first, and
    /// none after a crash that follows. A caller that loses that answer is told on its next try that the token was used
    /// before, unless it names its request: the same name again gets the same answer.
    ///
    /// - Parameter request: what the caller calls its request; nil when it does not.
    /// - Throws: what the store throws, where the use is strict. Whether it is stored is not known then.
    func use(request: [UInt8]? = nil) async throws -> Bool {
        if isStrict {
            if isOlderThanState { return false }
            return try await insert(request)
        }
        // What is only counted never stands in the way: a store that keeps silent must not use up the decision's time.
        let isFirst = try? await Deadline.run(scope.timeLimit / 4, clock: scope.host.clock) {
            guard case .counted = space else { return try await insert(nil) }
            // What would be refused if it were enforced.
            guard try await insert(nil) else { return false }
            return try await scope.host.store.get(ConsumptionSpace.shared.key(of: accepted)) == nil
        }
        return isFirst ?? true
    }

    private var isOlderThanState: Bool { accepted.token.issued < scope.stateBeginning }

    private func insert(_ request: [UInt8]?) async throws -> Bool {
        if let earlier = try await usedFormerly() { return request.map { earlier == $0 } ?? false }
        let key = space.key(of: accepted)
        let expires = accepted.token.expires + Self.memory
        if try await scope.host.store.insert(key, value: request ?? [], expires: expires) { return true }
        guard let request else { return false }
        return try await scope.host.store.get(key) == request
    }

    /// What a version up to 0.2 remembered of the use; nil for nothing.
    ///
    /// Only what was issued before this process had its policies can have been used by one.
    private func usedFormerly() async throws -> [UInt8]? {
        guard accepted.token.issued < accepted.project.since, let key = former.key(of: accepted) else { return nil }
        return try await scope.host.store.get(key)
    }
}

extension TokenInspection.Accepted {
    /// Whether the token was consumed in any space, as far as that is known already.
    ///
    /// - Throws: what the store throws.
    func isConsumedAnywhere(_ scope: RequestScope) async throws -> Bool {
        let store = scope.host.store
        if token.isLimitedUse, token.issued < scope.stateBeginning { return true }
        var keys = [ConsumptionSpace.shared.key(of: self)]
        if case .verification = project.verificationSpace { keys.append(ConsumptionSpace.verification.key(of: self)) }
        for service in project.services.values where service.consumption == .separate {
            keys.append(ConsumptionSpace.service(service.id).key(of: self))
        }
        if token.issued < project.since {
            keys += [ConsumptionSpace.Former.verification, .services].compactMap { $0.key(of: self) }
        }
        for key in keys where try await store.get(key) != nil { return true }
        return false
    }
}
