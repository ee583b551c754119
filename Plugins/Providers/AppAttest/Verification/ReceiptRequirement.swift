/// What is asked of the receipt in an attestation.
public enum ReceiptRequirement: Sendable {
    /// The receipt is passed on as it is; it costs nothing, and says nothing.
    case unchecked
    /// The receipt is verified, and what came of it is told; the attestation stands or falls without it.
    case recorded(ReceiptVerifier, maximumAge: Duration? = nil)
    /// The receipt must be good and agree with the attestation.
    ///
    /// - Parameters:
    ///   - maximumAge: How long ago it may have been made; Apple asks for five minutes.
    ///   - acceptsLegacy: Whether the faulty signatures of 2020 are good enough, which they are for old data only.
    case required(ReceiptVerifier, maximumAge: Duration? = nil, acceptsLegacy: Bool = false)
}

extension ReceiptRequirement {
    /// What verifies the receipt; nil where nothing does.
    var verifier: ReceiptVerifier? {
        switch self {
        case .unchecked: nil
        case .recorded(let verifier, _), .required(let verifier, _, _): verifier
        }
    }

    var maximumAge: Duration? {
        switch self {
        case .unchecked: nil
        case .recorded(_, let maximumAge), .required(_, let maximumAge, _): maximumAge
        }
    }

    /// Whether the faulty signatures of 2020 are refused.
    var refusesLegacy: Bool {
        if case .required(_, _, let acceptsLegacy) = self { !acceptsLegacy } else { false }
    }
}
