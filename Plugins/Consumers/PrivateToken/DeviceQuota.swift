internal import AssayCore
internal import AssayCrypto
internal import AssayKit

/// How many batches a device gets on a day: each is an entry of the state, so that all servers of the state count together.
struct DeviceQuota: Sendable {
    let batches: Int
    let acceptsUnboundTokens: Bool

    /// The provider of App Check tokens that were given for private tokens.
    private static let ofPrivateTokens = "privacy_pass"
    private static let secondsPerDay: Int64 = 86_400

    /// Takes one batch of the token's device.
    ///
    /// - Returns: the refusal; nil when a batch was taken.
    /// - Throws: the store's error: nothing is issued then.
    func take(_ context: ConsumerContext) async throws -> ConsumerVerdict? {
        guard let token = context.token else { return .refused(PrivateTokenReasons.deviceUnknown) }
        let holder: [UInt8]
        if let key = token.confirmation {
            holder = key.publicKey
        } else {
            // A private token would otherwise buy new ones without end.
            guard acceptsUnboundTokens, !token.provider.isExactly(Self.ofPrivateTokens) else {
                return .refused(
                    PrivateTokenReasons.deviceUnknown,
                    detail: "a token of \(token.provider ?? "no provider") without `cnf`")
            }
            holder = Array((token.id + " " + (token.idChooser ?? "")).utf8)
        }
        let day = context.now.seconds / Self.secondsPerDay
        // An hour longer than the day, in case a clock is set back.
        let end = Instant(seconds: (day + 1) * Self.secondsPerDay + 3600)
        let name = Hex.encode(SHA256.hash(Array("\(token.subject) \(day) ".utf8), holder))
        let space = context.state.subspace("batches")
        for number in 0..<batches
        where try await space.insert("\(name)/\(number)", expires: end, isListed: false) {
            return nil
        }
        return .refused(PrivateTokenReasons.limit, detail: "\(batches) batches on one day, and this is one more")
    }
}
