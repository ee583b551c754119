/// How an ECDSA signature is spelled; RSA signatures have one form only.
public enum SignatureForm: Sendable, Hashable {
    /// A DER SEQUENCE of `r` and `s` (RFC 3279, section 2.2.3), as in certificates and assertions.
    case der
    /// `r ‖ s`, each as long as a coordinate (RFC 7518, section 3.4), as in tokens.
    case raw
}
