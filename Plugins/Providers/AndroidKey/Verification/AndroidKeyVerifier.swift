public import AssayCore
public import AssayCrypto

/// Verifies that the certificates of an Android key lead to an authority of devices.
///
/// The rules of RFC 5280 are tried first. Certificates that a factory has put into a device are never renewed, and some are not made by
/// these rules: for them, and for them alone, the rules of Google's own verifier follow (`CertificatePathRules.factory`).
public struct AndroidKeyVerifier: Sendable {
    private let strict: CertificatePathVerifier
    private let factory: CertificatePathVerifier
    private let anchors: [TrustAnchor]
    /// Certificates of factories are shared by many devices, and devices have a few copies of each root.
    private let cache = VerifiedIntermediateCache(capacity: 4096)

    /// A verifier under Google's roots.
    public init() throws(CertificateError) {
        self.init(roots: try GoogleRoots.anchors())
    }

    /// A verifier under other roots.
    public init(roots anchors: [TrustAnchor]) {
        var remote = CertificatePathRules.deviceLeaf
        // A root is known by its key: devices have older certificates of it than those that are published now.
        remote.judgesValidityOfAnchor = false
        self.anchors = anchors
        strict = CertificatePathVerifier(
            anchors: anchors, lengthLimit: AndroidChain.lengths.upperBound,
            judgedExtensions: [KeyDescription.identifier], rules: remote, cache: cache)
        factory = CertificatePathVerifier(
            anchors: anchors, lengthLimit: AndroidChain.lengths.upperBound,
            rules: .factory(leafExtension: KeyDescription.identifier), cache: cache)
    }

    /// SHA-256 of the keys of the roots.
    var rootKeys: Set<[UInt8]> { Set(anchors.map { SHA256.hash(Array($0.certificate.key.bytes)) }) }

    /// Reads a chain; what was read and verified before is not read again.
    ///
    /// - Throws: ``AndroidKeyRefusal``.
    public func read(_ chain: [[UInt8]]) throws(AndroidKeyRefusal) -> AndroidChain {
        try AndroidChain(der: chain, knowing: cache)
    }

    /// Verifies a chain, and returns the root that it leads to.
    ///
    /// - Throws: ``AndroidKeyRefusal``.
    @discardableResult
    public func verify(_ chain: AndroidChain, at instant: Instant) throws(AndroidKeyRefusal) -> TrustAnchor {
        if let root = chain.root {
            guard let anchor = anchors.first(where: { $0.certificate.key == root.key }) else {
                let key = Hex.encode(SHA256.hash(Array(root.key.bytes)))
                throw AndroidKeyRefusal(AndroidKeyReasons.rootUntrusted, "the root's key is \(key)")
            }
            // It proves nothing that the key does not prove, but what is sent is to be what was signed.
            guard cache.isSigned(root, by: anchor) else {
                throw AndroidKeyRefusal(AndroidKeyReasons.signatureInvalid, "the root")
            }
        }
        do throws(CertificatePathError) {
            return try strict.verify(chain.path, at: instant)
        } catch {
            guard chain.provisioning == .factory, error.code != .signatureInvalid else { throw Self.refusal(error) }
        }
        do throws(CertificatePathError) {
            return try factory.verify(chain.path, at: instant)
        } catch {
            throw Self.refusal(error)
        }
    }

    private static func refusal(_ error: CertificatePathError) -> AndroidKeyRefusal {
        let reason =
            switch error.code {
            case .untrusted: AndroidKeyReasons.rootUntrusted
            case .signatureInvalid: AndroidKeyReasons.signatureInvalid
            case .expired: AndroidKeyReasons.certificateExpired
            case .notYetValid: AndroidKeyReasons.certificateNotYetValid
            case .leafExtensionInIssuer: AndroidKeyReasons.chainExtended
            default: AndroidKeyReasons.pathInvalid
            }
        return AndroidKeyRefusal(reason, "\(error)")
    }
}

/// Why evidence is refused.
public struct AndroidKeyRefusal: Error, Sendable, Hashable {
    /// The reason, which the provider's descriptor lists.
    public let reason: Reason
    /// Both values, or the place, for the record; nil where the reason says it all.
    @Exact public private(set) var detail: String?

    init(_ reason: Reason, _ detail: String? = nil) {
        self.reason = reason
        self.detail = detail
    }
}
