internal import Synchronization

extension CertificatePathVerifier {
    /// Verifies the signatures of a path from the top down, and skips the ones that the cache remembers.
    func verifySignatures(
        of path: [Certificate], under anchor: TrustAnchor
    ) throws(CertificatePathError) {
        var issuerKey = anchor.key
        var issuerFingerprint = anchor.fingerprint
        for position in path.indices.dropFirst().reversed() {
            let certificate = path[position]
            if let known = cache?.entry(of: certificate, under: issuerFingerprint) {
                (issuerKey, issuerFingerprint) = (known.key, known.fingerprint)
                continue
            }
            try Self.verifySignature(of: certificate, with: issuerKey, at: position)
            do {
                issuerKey = try certificate.key.publicKey()
            } catch {
                throw CertificatePathError(.keyInvalid, at: position)
            }
            let fingerprint = SHA256.hash(issuerFingerprint[...], certificate.encoded)
            cache?.insert(
                VerifiedIntermediateCache.Entry(
                    certificate: certificate, issuer: issuerFingerprint, fingerprint: fingerprint, key: issuerKey))
            issuerFingerprint = fingerprint
        }
        if let leaf = path.first { try Self.verifySignature(of: leaf, with: issuerKey, at: 0) }
    }

    private static func verifySignature(
        of certificate: Certificate, with key: PublicKey, at position: Int
    ) throws(CertificatePathError) {
        guard
            key.isValidSignature(
                certificate.signature, by: certificate.signatureAlgorithm, message: certificate.signedPart)
        else { throw CertificatePathError(.signatureInvalid, at: position) }
    }
}

/// Remembers certificates whose signature was verified, with their keys.
///
/// An entry states one thing: these bytes were signed with that issuer's key. Validity, constraints and names are
/// judged again at each use. Only certificates that were verified are remembered, so the cache cannot be flooded with
/// others.
public final class VerifiedIntermediateCache: Sendable {
    /// A certificate that an issuer signed.
    struct Entry: Sendable {
        let certificate: Certificate
        /// The fingerprint of the issuer: of the anchor, or of an entry.
        let issuer: [UInt8]
        /// SHA-256 of the issuer's fingerprint and the certificate: it identifies the whole path above.
        let fingerprint: [UInt8]
        let key: PublicKey
    }

    /// The bytes of a certificate: found by the end of the signature, and compared as a whole.
    private struct Bytes: Hashable {
        let encoded: ArraySlice<UInt8>

        func hash(into hasher: inout Hasher) {
            for byte in encoded.suffix(16) { hasher.combine(byte) }
        }
    }

    private let capacity: Int
    private let entries = Mutex<[Bytes: Entry]>([:])

    /// A cache of a number of certificates.
    ///
    /// Apple has used one intermediate for all App Attest leaves since 2020.
    public init(capacity: Int = 16) {
        self.capacity = max(1, capacity)
    }

    /// How many certificates are remembered.
    public var count: Int { entries.withLock { $0.count } }

    /// A certificate that is remembered, which so need not be read again; nil for others.
    ///
    /// It is as it was read first: a cache is for those who read certificates in one way.
    ///
    /// - Parameter der: all of its bytes.
    public func certificate(der: ArraySlice<UInt8>) -> Certificate? {
        entries.withLock { $0[Bytes(encoded: der)]?.certificate }
    }

    /// Whether a certificate is signed with the key of an anchor; one that is will be remembered.
    public func isSigned(_ certificate: Certificate, by anchor: TrustAnchor) -> Bool {
        if entry(of: certificate, under: anchor.fingerprint) != nil { return true }
        guard
            anchor.key.isValidSignature(
                certificate.signature, by: certificate.signatureAlgorithm, message: certificate.signedPart),
            let key = try? certificate.key.publicKey()
        else { return false }
        insert(
            Entry(
                certificate: certificate, issuer: anchor.fingerprint,
                fingerprint: SHA256.hash(anchor.fingerprint[...], certificate.encoded), key: key))
        return true
    }

    func entry(of certificate: Certificate, under issuer: [UInt8]) -> Entry? {
        guard let entry = entries.withLock({ $0[Bytes(encoded: certificate.encoded)] }), entry.issuer == issuer else {
            return nil
        }
        return entry
    }

    func insert(_ entry: Entry) {
        let bytes = Bytes(encoded: entry.certificate.encoded)
        entries.withLock { entries in
            // Any entry may go: its certificate is verified once more when it comes back.
            if entries.count >= capacity, entries[bytes] == nil, let any = entries.keys.first {
                entries[any] = nil
            }
            entries[bytes] = entry
        }
    }
}
