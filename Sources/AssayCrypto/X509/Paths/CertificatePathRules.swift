/// What certificates of a path must be like, beyond that each is signed by the next.
public struct CertificatePathRules: Sendable, Hashable {
    /// Which certificates may have issued another one.
    @nonexhaustive public enum Issuers: Sendable, Hashable {
        /// Those that say so: `CA:TRUE`, and a key usage for signing certificates.
        case authorities
        /// The leaf's issuer may be any certificate without this extension, which only a leaf may have; those above it say that they
        /// are authorities.
        ///
        /// What a certificate says is kept: a limit of the path's length, for example.
        case without(OID)
    }

    /// Which certificates may have issued another one.
    public var issuers: Issuers
    /// Whether certificates of issuers, and the anchor, are refused when their validity is over; one whose validity has not
    /// begun is refused in any case.
    public var refusesExpiredIssuers: Bool
    /// Whether the leaf's validity is judged.
    public var judgesValidityOfLeaf: Bool

    /// Whether the anchor's validity is judged as that of an issuer is; without it, an anchor is trusted for as long as it is configured.
    public var judgesValidityOfAnchor: Bool
    /// Whether the leaf must name the subject of the certificate that signed it as its issuer.
    ///
    /// Some devices name another one. The signature says whose key it was in any case.
    public var comparesIssuerOfLeaf: Bool

    /// All of RFC 5280 that ``CertificatePathVerifier`` judges: for authorities that renew their certificates.
    public static let strict = CertificatePathRules(
        issuers: .authorities, refusesExpiredIssuers: true, judgesValidityOfLeaf: true,
        judgesValidityOfAnchor: true, comparesIssuerOfLeaf: true)

    /// The same, except for the leaf's validity: for keys whose leaf is made on a device without a clock of its own, under
    /// certificates that are renewed, such as those of Android's remote key provisioning.
    public static let deviceLeaf = CertificatePathRules(
        issuers: .authorities, refusesExpiredIssuers: true, judgesValidityOfLeaf: false,
        judgesValidityOfAnchor: true, comparesIssuerOfLeaf: true)

    /// For keys that a factory put into a device, such as those of Android before remote provisioning.
    ///
    /// Their certificates are never renewed, and do not always say that they are authorities'. Take these rules only under
    /// anchors of such factories.
    ///
    /// - Parameter extension: what only the leaf may have, such as its attestation: a path in which an issuer has it is refused, since
    ///   the owner of an attested key could issue certificates otherwise. The caller judges it, so that it may be critical.
    public static func factory(leafExtension extension: OID) -> CertificatePathRules {
        CertificatePathRules(
            issuers: .without(`extension`), refusesExpiredIssuers: false, judgesValidityOfLeaf: false,
            judgesValidityOfAnchor: false, comparesIssuerOfLeaf: false)
    }

    /// Rules of one's own; begin with one of the constants.
    public init(
        issuers: Issuers, refusesExpiredIssuers: Bool, judgesValidityOfLeaf: Bool, judgesValidityOfAnchor: Bool,
        comparesIssuerOfLeaf: Bool
    ) {
        self.issuers = issuers
        self.refusesExpiredIssuers = refusesExpiredIssuers
        self.judgesValidityOfLeaf = judgesValidityOfLeaf
        self.judgesValidityOfAnchor = judgesValidityOfAnchor
        self.comparesIssuerOfLeaf = comparesIssuerOfLeaf
    }
}
