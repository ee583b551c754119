/// What a server demands of the next request by an error that says how to mend it.
enum ServerDemand: Sendable, Hashable {
    /// `use_dpop_nonce` (RFC 9449, section 8).
    case nonce
    /// `use_attestation_challenge` (draft-ietf-oauth-attestation-based-client-auth-10, errors).
    case challenge
    /// `use_fresh_attestation` (the same).
    case freshAttestation
    /// The proofs were refused, perhaps because of their time.
    case time

    private static let errors: [(name: String, demand: ServerDemand)] = [
        ("use_dpop_nonce", .nonce), ("use_attestation_challenge", .challenge),
        ("use_fresh_attestation", .freshAttestation), ("invalid_dpop_proof", .time),
        ("invalid_client_attestation", .time), ("invalid_client", .time),
    ]

    /// Nil for a response that demands nothing of the kind.
    init?(_ response: ClientResponse) {
        guard response.status == 400 || response.status == 401 else { return nil }
        let error = JSONValue.read(response.body)?["error"]?.text
        if let found = Self.errors.first(where: { error?.sameBytes(as: $0.name) == true }) {
            self = found.demand
            return
        }
        // A resource server says it in its challenges (RFC 9449, section 9).
        let challenges = response.headers.filter { $0.name.loweredASCII.sameBytes(as: "www-authenticate") }
        let found = Self.errors.first { name, _ in
            challenges.contains { header in
                ["error=\"\(name)\"", "error=\(name)"].contains { header.value.utf8.hasRun($0.utf8) }
            }
        }
        guard let found else { return nil }
        self = found.demand
    }
}
