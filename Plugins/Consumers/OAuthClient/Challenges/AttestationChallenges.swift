public import AssayCore
internal import AssayCrypto
public import AssayKit

/// The challenges that clients answer in their proofs, and nonces of DPoP: made without being stored, since each
/// authenticates itself and expires.
///
/// The 57 bytes of one are
///
///     version 1 ‖ time in milliseconds 8 ‖ random 16 ‖ HMAC-SHA256 32
///
/// where the HMAC covers the audience, too. Its key is a secret of the project, another one each day, that is kept in
/// the state store: servers that share a store take each other's challenges.
public struct AttestationChallenges: Sendable {
    /// What a challenge that came back is.
    public enum Finding: Sendable, Hashable {
        case good
        /// None of this service's, or one for another audience.
        case unknown
        case expired
    }

    private let keys: ChallengeKeys
    /// How long a challenge is valid.
    private let lifetime: Duration

    /// How far a challenge's time may be in the future: the clocks of a service's servers differ.
    private static let skew = Duration.seconds(60)
    private static let version: UInt8 = 1
    private static let bodyCount = 25

    /// Makes challenges that are valid for a lifetime, with keys that are kept in a state space.
    public init(lifetime: Duration, state: StateSpace, randomness: Randomness) {
        self.lifetime = lifetime
        keys = ChallengeKeys(state: state, randomness: randomness, lifetime: lifetime + AttestationChallenges.skew)
    }

    /// A fresh challenge, 76 characters of Base 64 for URLs.
    ///
    /// - Throws: what the store throws.
    public func issue(for audience: String, now: Instant, randomness: Randomness) async throws -> String {
        let time = UInt64(clamping: now.milliseconds)
        let body = [AttestationChallenges.version] + time.bigEndianBytes + randomness.bytes(16)
        let key = try await keys.key(at: now)
        return Base64.encodeURL(body + key.authenticate(Array(audience.utf8)[...], body[...]))
    }

    /// When a challenge was made that was judged as good.
    static func time(of text: String) -> Instant? {
        guard let bytes = Base64.decodeURL(utf8: Array(text.utf8)[...]), bytes.count > bodyCount else { return nil }
        return Instant(milliseconds: Int64(clamping: UInt64(bigEndianBytes: bytes[1..<9])))
    }

    /// Judges a challenge that came back.
    ///
    /// - Throws: what the store throws.
    public func judge(_ text: String, for audience: String, now: Instant) async throws -> Finding {
        // Longer ones are not looked at.
        guard text.utf8.count == 76, let bytes = Base64.decodeURL(utf8: Array(text.utf8)[...]),
            bytes.first == AttestationChallenges.version, bytes.count > AttestationChallenges.bodyCount
        else { return .unknown }
        let body = bytes[..<AttestationChallenges.bodyCount]
        let made = Instant(milliseconds: Int64(clamping: UInt64(bigEndianBytes: body[1..<9])))
        guard made <= now + AttestationChallenges.skew else { return .unknown }
        guard now < made + lifetime else { return .expired }
        guard let key = try await keys.existingKey(at: made),
            key.isValid(
                bytes[AttestationChallenges.bodyCount...],
                for: Array(audience.utf8)[...], body)
        else { return .unknown }
        return .good
    }
}

/// The keys that challenges are authenticated by: one a day, made when it is first needed.
struct ChallengeKeys: Sendable {
    let state: StateSpace
    let randomness: Randomness
    /// For how long after its day a key is needed.
    let lifetime: Duration

    private static let secondsPerDay: Int64 = 86_400

    /// The key of a day, which is made if it does not exist.
    func key(at now: Instant) async throws -> HMACSHA256 {
        if let key = try await existingKey(at: now) { return key }
        let day = ChallengeKeys.day(of: now)
        let end = Instant(seconds: (day + 1) * ChallengeKeys.secondsPerDay) + lifetime
        let isMade = try await state.insert("\(day)", value: randomness.bytes(32), expires: end)
        if !isMade, try await existingKey(at: now) == nil {
            // An earlier key has expired and was removed, and the clock was set back since: a new key does no harm,
            // because challenges under the earlier key are refused.
            try await state.put("\(day)", value: randomness.bytes(32), expires: end)
        }
        guard let key = try await existingKey(at: now) else { throw MissingKey() }
        return key
    }

    /// The key of a day; nil when it does not exist, or no longer exists.
    func existingKey(at time: Instant) async throws -> HMACSHA256? {
        guard let bytes = try await state.get("\(ChallengeKeys.day(of: time))"), bytes.count == 32 else { return nil }
        return HMACSHA256(key: bytes)
    }

    /// The store did not keep a key that was written a moment ago.
    struct MissingKey: Error, CustomStringConvertible {
        let description = "the store has lost the key of attestation challenges"
    }

    private static func day(of time: Instant) -> Int64 {
        min(max(time.seconds, 0), 253_402_300_799) / secondsPerDay
    }
}
