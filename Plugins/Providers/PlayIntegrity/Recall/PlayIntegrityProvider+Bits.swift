public import AssayCore
public import AssayKit

/// Google's device recall: three bits of each device, for all apps of a developer.
extension PlayIntegrityProvider: DeviceBitsProvider {
    /// What methods and permissions for the bits of devices are named by.
    public static let bitsName = "PlayIntegrity"
    /// Google keeps three bits.
    public static let bitCount = 3

    private static let bitsNotInPolicy = CallFailure(
        .failedPrecondition, "The app's section `play_integrity` has no `device_recall`.")
    private static let bitsNeedAccount = CallFailure(
        .failedPrecondition, "To set bits, the app's section `play_integrity` needs a `service_account`.")

    /// Google's answer that the app, or the account, is not admitted to device recall.
    static func bitsNotAllowed(_ words: String) -> CallFailure {
        CallFailure(.failedPrecondition, "Google does not let this app set bits of devices.", detail: words)
    }

    /// The answer to a caller that wants to read or set the bits of a device with a token that is not accepted.
    static func bitsRefused(_ refusal: PlayRefusal? = nil) -> CallFailure {
        CallFailure(
            .invalidArgument, "The device token was not accepted.", reason: PlayIntegrityReasons.bitsRefused,
            detail: refusal.map { [$0.reason.code, $0.detail].compactMap(\.self).joined(separator: ": ") })
    }

    /// The bits that a token states, as they were when it was made.
    ///
    /// No challenge is used up.
    ///
    /// - Throws: `CallFailure`.
    public func readBits(of deviceToken: String, _ context: ProviderContext) async throws
        -> (bits: DeviceBits?, facts: [Fact])
    {
        guard allowsBits else { throw Self.bitsNotInPolicy }
        do {
            let opened = try await open(deviceToken, context)
            let verdict = try PlayVerdict(opened.payload)
            try rules.judgeForBits(verdict, at: context.now)
            return (
                verdict.recall, PlayIntegrityFacts.of(verdict, isOpenedHere: opened.isOpenedHere, at: context.now)
            )
        } catch let refusal as PlayRefusal {
            throw Self.bitsRefused(refusal)
        }
    }

    /// Has Google set bits of a token's device, which uses the token up; Google judges the token.
    ///
    /// - Throws: `CallFailure`.
    public func updateBits(of deviceToken: String, to change: SomeDeviceBits, _ context: ProviderContext) async throws
        -> [Fact]
    {
        guard allowsBits else { throw Self.bitsNotInPolicy }
        guard let decoder else { throw Self.bitsNeedAccount }
        do {
            _ = try Self.read(deviceToken)
            try await decoder.write(change, of: deviceToken, context)
            return change.facts(PlayIntegrityFacts.recallBits)
        } catch let refusal as PlayRefusal {
            throw Self.bitsRefused(refusal)
        }
    }
}
