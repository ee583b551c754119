public import AssayCore
internal import AssayCrypto
public import AssayVerifier

/// Demands of requests to a backend, beside a token, a proof that the token's device made them.
///
///     let demand = ProofDemand(of: verifier, by: RequestProofVerifier(authorities: ["api.example.com"])!)
///     let request = ProvenRequest(method: "POST", target: "/payments?id=7")
///     switch try await demand.verify(token, RequestProofHeaders { headers[$0] }, of: request, content: body) { … }
///
/// Take it for the routes that need it, and ``AppCheckVerifier`` alone for the others.
public final class ProofDemand: Sendable {
    private let tokens: AppCheckVerifier
    private let proofs: RequestProofVerifier
    private let used: any UsedProofs
    private let clock: HostClock

    /// Demands proofs.
    ///
    /// - Parameters:
    ///   - tokens: verifies the tokens.
    ///   - proofs: knows the backend's hosts.
    ///   - used: remembers which proofs were used; the memory of this process when absent.
    public init(
        of tokens: AppCheckVerifier, by proofs: RequestProofVerifier, used: (any UsedProofs)? = nil,
        clock: HostClock = .system
    ) {
        let used = used ?? MemoryUsedProofs(clock: clock)
        self.tokens = tokens
        self.proofs = proofs
        self.used = used
        self.clock = clock
    }

    /// Verifies a request's token and its proof, and remembers the proof.
    ///
    /// - Parameters:
    ///   - token: the value of the header `X-Firebase-AppCheck`; nil when it is missing.
    ///   - headers: the header fields of the proof.
    ///   - request: method and target as they arrived; nil when they are none of a request.
    ///   - content: the whole body, empty for none.
    /// - Throws: `KeysUnavailable`, or what ``UsedProofs/use(_:until:)`` throws: no decision is possible, and the request
    ///   must not be allowed.
    public func verify(
        _ token: String?, _ headers: RequestProofHeaders, of request: ProvenRequest?, content: [UInt8]
    ) async throws -> TokenVerifier.Outcome {
        try await verify(token, headers, of: request, contentSHA256: SHA256.hash(content))
    }

    /// The same for a body that was read in parts.
    ///
    /// - Parameter contentSHA256: the SHA-256 of the whole body.
    public func verify(
        _ token: String?, _ headers: RequestProofHeaders, of request: ProvenRequest?, contentSHA256: [UInt8]
    ) async throws -> TokenVerifier.Outcome {
        let outcome = try await tokens.verify(token)
        guard case .verified(let verified) = outcome else { return outcome }
        guard let request else { return .refused(RequestProofReasons.malformed) }
        switch proofs.verify(headers, of: request, by: verified.confirmation, now: clock.now) {
        case .refused(let reason, _): return .refused(reason)
        case .verified(let proof):
            guard proof.contentSHA256 == contentSHA256 else { return .refused(RequestProofReasons.digest) }
            // What was used before the memory began is unknown.
            if let beginning = used.beginning, !proof.isMade(after: beginning) {
                return .refused(RequestProofReasons.beforeState)
            }
            guard try await used.use(proof.id, until: proof.isGoodUntil) else {
                return .refused(RequestProofReasons.reused)
            }
            return outcome
        }
    }
}
