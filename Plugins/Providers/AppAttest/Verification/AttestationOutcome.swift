/// What came of verifying an attestation.
public enum AttestationOutcome: Sendable, Hashable {
    /// The attestation is genuine and agrees with what was expected.
    case verified(VerifiedAttestation)
    /// The attestation is not good.
    case refused(AppAttestRefusal)
}
