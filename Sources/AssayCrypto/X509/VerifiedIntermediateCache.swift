internal import Synchronization

/// Remembers intermediates whose signature was verified, with their keys.
///
/// An entry says one thing: that these bytes were signed with that issuer's key. Validity, constraints and names are
/// judged anew on each use. Only what really was verified gets in, so that nobody can flood the cache with rubbish.
package final class VerifiedIntermediateCache: Sendable {
    /// A certificate that an issuer signed.
    struct Entry: Sendable {
        /// SHA-256 of the issuer's fingerprint and the certificate: it stands for the whole path above.
        let fingerprint: [UInt8]
        let key: ECPublicKey
    }

    private let capacity: Int
    private let entries = Mutex<[[UInt8]: Entry]>([:])

    /// A cache of a number of certificates; Apple has used one for all App Attest leaves since 2020.
    package init(capacity: Int = 16) {
        self.capacity = max(1, capacity)
    }

    /// How many certificates are remembered.
    package var count: Int { entries.withLock { $0.count } }

    func entry(for fingerprint: [UInt8]) -> Entry? {
        entries.withLock { $0[fingerprint] }
    }

    func insert(_ entry: Entry) {
        entries.withLock { entries in
            // Which one goes does not matter: it is verified once more when it comes back.
            if entries.count >= capacity, entries[entry.fingerprint] == nil, let any = entries.keys.first {
                entries[any] = nil
            }
            entries[entry.fingerprint] = entry
        }
    }
}
