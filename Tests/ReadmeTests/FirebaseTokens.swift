import AssayClient

#if canImport(FirebaseAppCheck)
import FirebaseAppCheck
import FirebaseCore
import Foundation

/// Gives Firebase's SDKs the tokens of an Assay server.
final class AssayTokens: NSObject, FirebaseAppCheck.AppCheckProvider {
    private let tokens: AssayClient.AppCheck

    init(_ tokens: AssayClient.AppCheck) {
        self.tokens = tokens
    }

    func getToken(completion handler: @escaping (FirebaseAppCheck.AppCheckToken?, (any Error)?) -> Void) {
        nonisolated(unsafe) let handler = handler
        // Firebase's SDK keeps tokens itself, and asks when it wants another one.
        tokens.token(forcingRefresh: true) { token, error in handler(token.map(Self.converted), error) }
    }

    func getLimitedUseToken(completion handler: @escaping (FirebaseAppCheck.AppCheckToken?, (any Error)?) -> Void) {
        nonisolated(unsafe) let handler = handler
        tokens.limitedUseToken { token, error in handler(token.map(Self.converted), error) }
    }

    private static func converted(_ token: AssayClient.AppCheckToken) -> FirebaseAppCheck.AppCheckToken {
        FirebaseAppCheck.AppCheckToken(token: token.token, expirationDate: token.expirationDate)
    }
}

/// For `AppCheck.setAppCheckProviderFactory(AssayTokensFactory())`, before `FirebaseApp.configure()`.
final class AssayTokensFactory: NSObject, AppCheckProviderFactory {
    private let provider: any AssayClient.AppCheckProvider

    init(_ provider: any AssayClient.AppCheckProvider = AssayClient.AppAttestProvider()) {
        self.provider = provider
    }

    /// For simulators: the operator registers the debug token that is printed.
    static func debug() -> AssayTokensFactory { AssayTokensFactory(AssayClient.DebugProvider()) }

    func createProvider(with app: FirebaseApp) -> (any FirebaseAppCheck.AppCheckProvider)? {
        guard let project = app.options.projectID else { return nil }
        let tokens = try? AssayClient.AppCheck(
            app: "projects/\(project)/apps/\(app.options.googleAppID)", endpoint: "https://assay.example.com",
            provider: provider)
        return tokens.map { AssayTokens($0) }
    }
}
#endif
