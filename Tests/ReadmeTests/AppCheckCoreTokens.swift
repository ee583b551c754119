import AssayClient

#if canImport(AppCheckCore)
import AppCheckCore
import Foundation

/// Gives Google's SDKs that use AppCheckCore, such as Google Sign-In, the tokens of an Assay server.
final class AssayCoreTokens: NSObject, AppCheckCoreProvider {
    private let tokens: AppCheck

    init(_ tokens: AppCheck) {
        self.tokens = tokens
    }

    func getToken(completion handler: @escaping (AppCheckCoreToken?, (any Error)?) -> Void) {
        nonisolated(unsafe) let handler = handler
        // AppCheckCore keeps tokens itself, and asks when it wants another one.
        tokens.token(forcingRefresh: true) { token, error in handler(token.map(Self.converted), error) }
    }

    func getLimitedUseToken(completion handler: @escaping (AppCheckCoreToken?, (any Error)?) -> Void) {
        nonisolated(unsafe) let handler = handler
        tokens.limitedUseToken { token, error in handler(token.map(Self.converted), error) }
    }

    private static func converted(_ token: AppCheckToken) -> AppCheckCoreToken {
        AppCheckCoreToken(token: token.token, expirationDate: token.expirationDate)
    }
}
#endif
