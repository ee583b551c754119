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
            let fingerprint = SHA256.hash(issuerFingerprint[...], certificate.encoded)
            if let known = cache?.entry(for: fingerprint) {
                issuerKey = known.key
            } else {
                try Self.verifySignature(of: certificate, with: issuerKey, at: position)
                do {
                    issuerKey = try certificate.key.publicKey()
                } catch {
                    throw CertificatePathError(.keyInvalid, at: position)
                }
                cache?.insert(VerifiedIntermediateCache.Entry(fingerprint: fingerprint, key: issuerKey))
            }
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

/// Remembers intermediates whose signature was verified, with their keys.
///
/// An entry states one thing: these bytes were signed with that issuer's key. Validity, constraints and names are
/// judged again at each use. Only certificates that were verified are remembered, so the cache cannot be flooded with
/// others.
public final class VerifiedIntermediateCache: Sendable {
    /// A certificate that an issuer signed.
    struct Entry: Sendable {
        /// SHA-256 of the issuer's fingerprint and the certificate: it identifies the whole path above.
        let fingerprint: [UInt8]
        let key: PublicKey
    }

    private let capacity: Int
    private let entries = Mutex<[[UInt8]: Entry]>([:])

    /// A cache of a number of certificates.
    ///
    /// Apple has used one intermediate for all App Attest leaves since 2020.
    public init(capacity: Int = 16) {
        self.capacity = max(1, capacity)
    }

    /// How many certificates are remembered.
    public var count: Int { entries.withLock { $0.count } }

    func entry(for fingerprint: [UInt8]) -> Entry? {
        entries.withLock { $0[fingerprint] }
    }

    func insert(_ entry: Entry) {
        entries.withLock { entries in
            // Any entry may go: its certificate is verified once more when it comes back.
            if entries.count >= capacity, entries[entry.fingerprint] == nil, let any = entries.keys.first {
                entries[any] = nil
            }
            entries[entry.fingerprint] = entry
        }
    }
}
