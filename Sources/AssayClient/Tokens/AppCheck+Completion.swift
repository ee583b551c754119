#if canImport(Darwin)
public import Foundation
#endif

/// The same for callers with a completion handler, as code that was written for Firebase's SDK is.
extension AppCheck {
    /// Fetches a session token by the rules of ``token(forcingRefresh:)``, and calls back once: with the token or with an error.
    ///
    /// It may be called on any queue, and calls back on a thread of Swift's, maybe before it returns.
    ///
    /// - Parameter completion: takes the token, or an ``AppCheckError``.
    public func token(
        forcingRefresh: Bool = false, completion: @escaping @Sendable (AppCheckToken?, (any Error)?) -> Void
    ) {
        // Nobody cancels it: it ends by itself, within the limit for a fetch.
        Task {
            do throws(AppCheckError) {
                completion(try await self.token(forcingRefresh: forcingRefresh), nil)
            } catch {
                completion(nil, error)
            }
        }
    }

    /// Fetches a token for one use, and calls back once, as ``token(forcingRefresh:completion:)`` does.
    public func limitedUseToken(completion: @escaping @Sendable (AppCheckToken?, (any Error)?) -> Void) {
        Task {
            do throws(AppCheckError) {
                completion(try await self.limitedUseToken(), nil)
            } catch {
                completion(nil, error)
            }
        }
    }
}

#if canImport(Darwin)
extension AppCheckToken {
    /// When the token ends, by the device's time of day, which users can set: for other SDKs that want such a date.
    ///
    /// This library never compares it; see ``expires``.
    public var expirationDate: Date {
        Date(timeIntervalSinceNow: Double((expires - SystemClientClock().now).nanoseconds) / 1_000_000_000)
    }
}
#endif
