import AssayRequestProof
import AssayVerifier

func demand(_ verifier: AppCheckVerifier) -> ProofDemand? {
    RequestProofVerifier(authorities: ["api.example.com"]).map { ProofDemand(of: verifier, by: $0) }
}

/// Whether a payment comes from the device that its token was issued to.
func isGenuine(
    _ demand: ProofDemand, target: String, header: (String) -> String?, content: [UInt8]
) async throws -> Bool {
    let outcome = try await demand.verify(
        header("x-firebase-appcheck"), RequestProofHeaders(header),
        of: ProvenRequest(method: "POST", target: target), content: content)
    guard case .verified = outcome else { return false }
    return true
}
