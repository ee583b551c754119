internal import AssayCore
internal import AssayKit
internal import AssayRequestProof

/// What a backend demands of proofs that the token's device made the request.
struct BackendProof: Sendable {
    let verifier: RequestProofVerifier
    /// By what used proofs are remembered.
    private static let kind = OneTimeKind(
        longestLife: RequestProofVerifier.longestLife, skew: RequestProofVerifier.skew, margin: .seconds(600))
    /// Whether requests need one, unless their route says otherwise.
    let isRequired: Bool

    /// Reads the section of a backend.
    ///
    /// - Returns: nil when it has none, or an error, which is reported.
    init?(
        _ section: RequestProofConfiguration?, original: BackendConfiguration.OriginalRequest?,
        at path: [ConfigurationError.Component], problems: inout ConfigurationProblems
    ) {
        guard let section else { return nil }
        if original == nil {
            problems.report(
                at: path,
                "`original_request` must say where the proxy puts its client's request: x-original, x-forwarded or "
                    + "transport")
        }
        let authorities = section.authorities
        if !(1...RequestProofVerifier.authorityLimit).contains(authorities.count) {
            problems.report(
                at: path + ["authorities"],
                "expected 1 to \(RequestProofVerifier.authorityLimit) hosts, as clients write them")
        }
        for (index, authority) in authorities.enumerated() where !RequestProofVerifier.isAuthority(authority) {
            problems.report(
                at: path + ["authorities", .index(index)],
                "expected a host in lower case, such as api.example.com or localhost:8443, without a scheme, and "
                    + "without the port when it is 443 or 80")
        }
        let age = section.maximumAge ?? RequestProofVerifier.maximumAge
        if !RequestProofVerifier.ages.contains(age) {
            problems.report(at: path + ["max_age"], "expected 1s to 10m")
        }
        guard let verifier = RequestProofVerifier(authorities: authorities, maximumAge: age) else { return nil }
        self.verifier = verifier
        isRequired = section.isRequired ?? true
    }

    /// Why a request with a valid token is refused; nil when its proof is good, and was not used before.
    ///
    /// - Throws: the error of the store, when it is unknown whether the proof was used.
    func refusal(
        of proof: RequestProofHeaders, method: String?, target: String?, _ context: ConsumerContext
    ) async throws -> RequestProofRefusal? {
        guard let method, let target else { return RequestProofRefusal(CustomBackendReasons.targetMissing) }
        guard let request = ProvenRequest(method: method, target: target) else {
            return RequestProofRefusal(CustomBackendReasons.targetAmbiguous)
        }
        switch verifier.verify(proof, of: request, by: context.token?.confirmation, now: context.now) {
        case .refused(let reason, let detail): return RequestProofRefusal(reason, detail)
        case .verified(let verified):
            let uses = OneTimeUse(of: Self.kind, in: context.state.subspace("proofs"))
            switch try await uses.use(OneTimeThing(verified.id, made: verified.created)) {
            case .first: return nil
            case .used: return RequestProofRefusal(RequestProofReasons.reused, "counter \(verified.counter)")
            case .olderThanState:
                return RequestProofRefusal(
                    RequestProofReasons.beforeState,
                    "made at \(verified.created), and the state began at \(context.state.beginning)")
            }
        }
    }
}

extension BackendProof {
    /// Reports a demand that nothing meets: an operator must not believe in a proof that nobody asks for.
    ///
    /// - Parameters:
    ///   - demand: the backend's own demand on tokens.
    ///   - isEditable: whether administrators may change its levels.
    ///   - path: the backend's place in its section.
    func report(
        _ demand: TokenDemand, _ routes: [Route], isEditable: Bool, at path: [ConfigurationError.Component],
        problems: inout ConfigurationProblems
    ) {
        let place = path + ["request_proof"]
        if isRequired, demand.enforcement == .off, !isEditable {
            problems.report(at: place, "with `enforcement: OFF` no token is read, and so no proof is demanded")
        }
        let isDemanded = routes.contains { $0.requiresProof ?? isRequired }
        if !isRequired, !isDemanded {
            problems.report(at: place, "no route has `request_proof: true`, so no proof is demanded")
        }
        if isRequired, !isDemanded, routes.contains(where: { $0.isForEveryMethod && $0.path.isForAll }) {
            problems.report(at: place, "routes with `request_proof: false` cover all paths, so no proof is demanded")
        }
    }

    /// Reports a route that reads no token and is said to need a proof.
    func report(
        _ route: Route, under demand: TokenDemand, isEditable: Bool, at place: [ConfigurationError.Component],
        problems: inout ConfigurationProblems
    ) {
        let isChangeable = isEditable && route.tokens.inherited.contains(.enforcement)
        guard route.requiresProof ?? isRequired, !isChangeable, route.tokens.applied(to: demand).enforcement == .off
        else { return }
        problems.report(
            at: place + [route.requiresProof == nil ? "tokens" : "request_proof"],
            "with `enforcement: OFF` no token is read, and so no proof is demanded; write `request_proof: false`")
    }
}

/// Why a proof is refused.
struct RequestProofRefusal: Sendable {
    let reason: Reason
    let detail: String?

    init(_ reason: Reason, _ detail: String? = nil) {
        self.reason = reason
        self.detail = detail
    }
}
