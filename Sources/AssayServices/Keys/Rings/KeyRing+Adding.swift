internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayPolicy

/// New keys of a ring.
extension KeyRing {
    /// How many keys an operator can make before earlier ones have left: readers of key sets limit their number.
    private static let signingLimit = 32
    /// The most sealing keys: they stay forever, and the file that holds them is bounded.
    private static let sealingLimit = 4096

    /// Adds a new signing key.
    @discardableResult
    mutating func addSigningKey(_ kind: TokenPolicy, _ times: KeyTimes) throws(KeyError) -> SigningKey {
        guard signing.count < KeyRing.signingLimit * 2 else { throw KeyError("there are too many signing keys") }
        let key = try KeyError.explaining { () throws(CryptoError) in
            var key = try maker.key(of: kind, times, number: signing.count)
            // An identifier that begins with a hyphen is hard to pass to a command.
            while key.id.starts(withExactly: "-") || signing.contains(where: { $0.id.isExactly(key.id) }) {
                key = try SigningKey.generate(kind, times: times)
            }
            return key
        }
        signing.insert(key, at: 0)
        return key
    }

    /// Adds a new sealing key.
    @discardableResult
    mutating func addSealingKey(_ times: KeyTimes, randomness: Randomness) throws(KeyError) -> SealingKey {
        guard sealing.count < KeyRing.sealingLimit else { throw KeyError(refusal: "there are too many sealing keys") }
        let key = try KeyError.explaining { () throws(CryptoError) in
            var key = try SealingKey.generate(times, randomness: randomness)
            while sealing.contains(where: { $0.id == key.id }) {
                key = try SealingKey.generate(times, randomness: randomness)
            }
            return key
        }
        sealing.insert(key, at: 0)
        return key
    }

    /// Removes keys that no valid token can name, if there are many of them.
    mutating func makeRoom(at now: Instant) {
        if signing.count >= KeyRing.signingLimit { prune(at: now) }
    }

    /// - Throws: a refusal when so many keys have been made that their set would become too large for its readers.
    func checkRoomForSigningKey() throws(KeyError) {
        guard signing.count < KeyRing.signingLimit else {
            throw KeyError(
                refusal: "there are \(signing.count) signing keys: wait until some of the retired ones have expired")
        }
    }
}
