internal import AssayCrypto
internal import AssayKit

/// The keys that challenges are authenticated by: one a day, made by whoever needs it first.
struct ChallengeKeys: Sendable {
    let state: StateSpace
    let randomness: Randomness
    /// For how long after its day a key is needed.
    let lifetime: Duration

    private static let secondsPerDay: Int64 = 86_400

    /// The key of a day, which is made when there is none.
    func key(at now: Instant) async throws -> HMACSHA256 {
        if let key = try await existingKey(at: now) { return key }
        let day = ChallengeKeys.day(of: now)
        let end = Instant(seconds: (day + 1) * ChallengeKeys.secondsPerDay) + lifetime
        let isMade = try await state.insert("\(day)", value: randomness.bytes(32), expires: end)
        if !isMade, try await existingKey(at: now) == nil {
            // There was one that has expired and is gone, and the clock was set back since: another one does no harm, as
            // what the former authenticated is refused.
            try await state.put("\(day)", value: randomness.bytes(32), expires: end)
        }
        guard let key = try await existingKey(at: now) else { throw MissingKey() }
        return key
    }

    /// The key of a day; nil when there is none, or none any more.
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
