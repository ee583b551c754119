internal import AssayCore
internal import AssayCrypto
internal import AssayKit

/// Makes challenges, and recognises them in exchanges.
///
/// Nothing is stored when a challenge is made, because it authenticates itself. Its 69 bytes are
///
///     version 1 ‖ key identifier 4 ‖ audience 8 ‖ time in milliseconds 8 ‖ random 16 ‖ HMAC-SHA256 32
///
/// where the audience is a part of the hash of the app and the provider that it is for, so that a challenge for another
/// app is distinguished from a forged one; the HMAC covers the full names. Only the use of a challenge is stored.
enum ChallengeIssuer {
    /// How long a challenge is valid: what Google's service says, `300s`.
    static let lifetime = Duration.seconds(300)
    /// How far a challenge's time may be ahead of this server's clock: the clocks of a service's servers differ.
    static let skew = Duration.seconds(60)
    /// By what the use of a challenge is remembered: this service makes its time, exact to the millisecond, and never before
    /// the state began.
    static let kind = OneTimeKind(longestLife: lifetime, skew: .zero, margin: .seconds(3600))

    private static let version: UInt8 = 1
    private static let count = 69

    /// Makes a challenge for a purpose: an app and a provider.
    static func issue(
        for purpose: SealedPurpose, key: SealingKey, now: Instant, randomness: Randomness
    ) -> [UInt8] {
        var challenge = [ChallengeIssuer.version] + key.id + purpose.tag
        challenge += UInt64(clamping: now.milliseconds).bigEndianBytes
        challenge += randomness.bytes(16)
        return challenge + key.authenticate(challenge, for: purpose)
    }

    /// Judges a challenge that came back.
    static func inspect(
        _ challenge: [UInt8], for purpose: SealedPurpose, keys: [SealingKey], now: Instant
    ) -> Inspection {
        guard challenge.count == ChallengeIssuer.count, challenge[0] == ChallengeIssuer.version else {
            return .refused(KernelReasons.challengeMalformed)
        }
        let body = Array(challenge[..<37])
        guard Array(body[5..<13]) == purpose.tag else { return .refused(KernelReasons.challengeForAnotherApp) }
        let isGenuine = keys.contains { key in
            key.id[...] == body[1..<5] && key.authenticates(body, for: purpose, tag: challenge[37...])
        }
        guard isGenuine else { return .refused(KernelReasons.challengeForged) }
        let made = Instant(milliseconds: Int64(clamping: UInt64(bigEndianBytes: body[13..<21])))
        guard made <= now + ChallengeIssuer.skew else { return .refused(KernelReasons.challengeNotYetValid) }
        guard now < made + ChallengeIssuer.lifetime else { return .refused(KernelReasons.challengeExpired) }
        return .genuine(name: Hex.encode(body[13..<37]), made: made)
    }

    /// The identifier of the key that a challenge names.
    static func keyIdentifier(of challenge: [UInt8]) -> [UInt8] {
        Array(challenge.dropFirst().prefix(4))
    }

    enum Inspection: Equatable {
        /// The challenge is genuine and not expired; its use is to be stored under `name`.
        case genuine(name: String, made: Instant)
        case refused(Reason)

        static func == (left: Inspection, right: Inspection) -> Bool {
            switch (left, right) {
            case (.genuine(let left, let leftEnd), .genuine(let right, let rightEnd)):
                left.isExactly(right) && leftEnd == rightEnd
            case (.refused(let left), .refused(let right)): left == right
            default: false
            }
        }
    }
}
