/// What certificates of a path must be like, beyond that each is signed by the next.
public struct CertificatePathRules: Sendable, Hashable {
    /// Whether a certificate that issued another one must say that it may: `CA:TRUE`, and a key usage for signing certificates.
    ///
    /// Otherwise, only what it says is kept: a limit of the path's length, for example.
    public var requiresAuthorities: Bool
    /// Whether certificates of issuers, and the anchor, are refused when their validity is over; one whose validity has not
    /// begun is refused in any case.
    public var refusesExpiredIssuers: Bool
    /// Whether the leaf's validity is judged.
    public var judgesValidityOfLeaf: Bool

    /// All of RFC 5280 that ``CertificatePathVerifier`` judges: for authorities that renew their certificates.
    public static let strict = CertificatePathRules(
        requiresAuthorities: true, refusesExpiredIssuers: true, judgesValidityOfLeaf: true)

    /// The same, except for the leaf's validity: for keys whose leaf is made on a device without a clock of its own, under
    /// certificates that are renewed, such as those of Android's remote key provisioning.
    public static let deviceLeaf = CertificatePathRules(
        requiresAuthorities: true, refusesExpiredIssuers: true, judgesValidityOfLeaf: false)

    /// For keys that a factory put into a device, such as those of Android before remote provisioning.
    ///
    /// Their certificates are never renewed, and do not always say that they are authorities'. Take these rules only under
    /// anchors of such factories. Since any certificate may issue another one then, the caller names in `judgedExtensions` what only the leaf may have:
    /// a path in which an issuer has it is refused, so that no attested key passes for an issuer.
    public static let factory = CertificatePathRules(
        requiresAuthorities: false, refusesExpiredIssuers: false, judgesValidityOfLeaf: false)

    /// Rules of one's own; begin with one of the constants.
    public init(requiresAuthorities: Bool, refusesExpiredIssuers: Bool, judgesValidityOfLeaf: Bool) {
        self.requiresAuthorities = requiresAuthorities
        self.refusesExpiredIssuers = refusesExpiredIssuers
        self.judgesValidityOfLeaf = judgesValidityOfLeaf
    }
}
