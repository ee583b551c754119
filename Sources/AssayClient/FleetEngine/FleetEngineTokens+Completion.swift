/// The same for callers with a completion handler, as Google's SDKs for iOS are: `GMTDAuthorization` of the Driver SDK and
/// `GMTCAuthorization` of the Consumer SDK.
extension FleetEngineTokens {
    /// Fetches the token for a trip, vehicle, task or shipment, and calls back once: with the token or with an error.
    ///
    /// It may be called on any queue, and calls back on a thread of Swift's, maybe before it returns. A token that is kept
    /// comes without a request, and callers at the same time share one.
    ///
    /// - Parameters:
    ///   - context: what the SDK asks for; nil when it does not say so, which is an error.
    ///   - completion: takes the JWT, or an ``AppCheckError``.
    public func fetchToken(
        for context: FleetEngineContext?, completion: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        // Nobody cancels it: it ends by itself, within the limit for a fetch.
        Task {
            do throws(AppCheckError) {
                guard let context else { throw Self.noContext }
                let token = try await self.fetchToken(for: context)
                completion(token.text, nil)
            } catch {
                completion(nil, error)
            }
        }
    }

    private static let noContext = AppCheckError(
        .invalidConfiguration,
        "The SDK asks for a token and names no vehicle or trip. Give it one before it calls Fleet Engine.")
}
