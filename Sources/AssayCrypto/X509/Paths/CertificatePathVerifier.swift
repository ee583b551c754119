public import AssayCore

/// Verifies that certificates lead, each signed by the next, from a leaf to a pinned anchor (RFC 5280, section 6.1).
///
/// The path must be complete and in order: no other path is searched for. Name constraints and policies are not judged;
/// a certificate that marks them as critical is refused. Revocation is not checked.
public struct CertificatePathVerifier: Sendable {
    /// The most certificates below the anchor, where a verifier sets no other limit.
    public static let defaultLengthLimit = 5

    private let anchors: [TrustAnchor]
    private let lengthLimit: Int
    private let judgedExtensions: [OID]
    private let rules: CertificatePathRules
    let cache: VerifiedIntermediateCache?

    /// A verifier of paths to any of the anchors.
    ///
    /// - Parameters:
    ///   - anchors: the trusted authorities. With none, each path is refused.
    ///   - lengthLimit: the most certificates below the anchor, the leaf included.
    ///   - judgedExtensions: extensions of the leaf that the caller judges: they may be critical.
    ///   - rules: what the certificates must be like.
    ///   - cache: remembers verified intermediates, which saves a signature check for each.
    public init(
        anchors: [TrustAnchor], lengthLimit: Int = defaultLengthLimit, judgedExtensions: [OID] = [],
        rules: CertificatePathRules = .strict, cache: VerifiedIntermediateCache? = nil
    ) {
        self.anchors = anchors
        self.lengthLimit = lengthLimit
        if case .without(let leafExtension) = rules.issuers {
            self.judgedExtensions = judgedExtensions + [leafExtension]
        } else {
            self.judgedExtensions = judgedExtensions
        }
        self.rules = rules
        self.cache = cache
    }

    /// Verifies a path at an instant and returns the anchor that it leads to.
    ///
    /// Checks that cost little come first, and the leaf's signature last.
    ///
    /// - Parameters:
    ///   - path: the leaf first, without the anchor. Where a peer also sends the anchor, drop it: an anchor is taken from
    ///     the configuration, never from the peer.
    ///   - instant: when all certificates must be valid.
    @discardableResult
    public func verify(_ path: [Certificate], at instant: Instant) throws(CertificatePathError) -> TrustAnchor {
        guard let leaf = path.first, let top = path.last, path.count <= lengthLimit else {
            throw CertificatePathError(.lengthUnsupported, at: 0)
        }
        try judgeLeaf(leaf)
        for position in path.indices.dropFirst() { try judgeIntermediate(path[position], at: position) }
        for position in path.indices.dropLast() where path[position].issuer != path[position + 1].subject {
            guard position == 0, !rules.comparesIssuerOfLeaf else {
                throw CertificatePathError(.issuerMismatch, at: position)
            }
        }
        let candidates = anchors.filter { $0.certificate.subject == top.issuer }
        guard !candidates.isEmpty else { throw CertificatePathError(.untrusted, at: path.count - 1) }
        if rules.judgesValidityOfLeaf { try judgeValidity(of: leaf, at: instant, 0, refusesExpired: true) }
        for position in path.indices.dropFirst() {
            try judgeValidity(of: path[position], at: instant, position, refusesExpired: rules.refusesExpiredIssuers)
        }

        var failure = CertificatePathError(.untrusted, at: path.count - 1)
        for anchor in candidates {
            do throws(CertificatePathError) {
                try judgeAnchor(anchor, of: path, at: instant)
                try verifySignatures(of: path, under: anchor)
                return anchor
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private func judgeLeaf(_ leaf: Certificate) throws(CertificatePathError) {
        guard !leaf.isAuthority, !(leaf.keyUsage?.contains(.certificateSigning) ?? false) else {
            throw CertificatePathError(.leafIsAuthority, at: 0)
        }
        try judgeCriticalExtensions(of: leaf, known: Self.knownExtensions + judgedExtensions, at: 0)
    }

    private func judgeIntermediate(_ certificate: Certificate, at position: Int) throws(CertificatePathError) {
        let constraints = certificate.basicConstraints
        switch rules.issuers {
        case .authorities:
            guard constraints?.isAuthority ?? false else { throw CertificatePathError(.notAuthority, at: position) }
            guard certificate.keyUsage?.contains(.certificateSigning) ?? false else {
                throw CertificatePathError(.keyUsageUnfit, at: position)
            }
        case .without(let leafExtension):
            guard !certificate.extensions.contains(where: { $0.identifier == leafExtension }) else {
                throw CertificatePathError(.leafExtensionInIssuer, at: position)
            }
            guard position == 1 || certificate.isAuthority else {
                throw CertificatePathError(.notAuthority, at: position)
            }
        }
        if let pathLength = constraints?.pathLength, position - 1 > pathLength {
            throw CertificatePathError(.pathTooLong, at: position)
        }
        try judgeCriticalExtensions(of: certificate, known: Self.knownExtensions, at: position)
    }

    private func judgeAnchor(
        _ anchor: TrustAnchor, of path: [Certificate], at instant: Instant
    ) throws(CertificatePathError) {
        if let pathLength = anchor.certificate.basicConstraints?.pathLength, path.count - 1 > pathLength {
            throw CertificatePathError(.pathTooLong, at: path.count)
        }
        guard rules.judgesValidityOfAnchor else { return }
        try judgeValidity(
            of: anchor.certificate, at: instant, path.count, refusesExpired: rules.refusesExpiredIssuers)
    }

    private func judgeValidity(
        of certificate: Certificate, at instant: Instant, _ position: Int, refusesExpired: Bool
    ) throws(CertificatePathError) {
        // Both ends belong to the validity (RFC 5280, section 4.1.2.5).
        guard instant < certificate.notBefore || (refusesExpired && instant > certificate.notAfter) else { return }
        let detail = "valid from \(certificate.notBefore) to \(certificate.notAfter), judged at \(instant)"
        throw CertificatePathError(
            instant < certificate.notBefore ? .notYetValid : .expired, at: position, detail: detail)
    }

    private func judgeCriticalExtensions(
        of certificate: Certificate, known: [OID], at position: Int
    ) throws(CertificatePathError) {
        for found in certificate.extensions where found.isCritical && !known.contains(found.identifier) {
            throw CertificatePathError(.criticalExtensionUnknown, at: position)
        }
    }

    private static let knownExtensions: [OID] = [.basicConstraints, .keyUsage]
}
