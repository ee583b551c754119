#if canImport(ObjectiveC)
public import Foundation

/// The App Check tokens of one app, for code in Objective-C: an `AppCheck` of `AssayClient` with the names of Firebase's SDK.
///
///     ASYAppCheck *appCheck = [[ASYAppCheck alloc] initWithApp:@"projects/1234567890/apps/1:1234567890:ios:321abc456def7890"
///                                                     endpoint:@"https://assay.example.com"
///                                                     provider:[ASYTokenProvider appAttest]
///                                                  accessGroup:nil];
///     [appCheck tokenForcingRefresh:NO completion:^(ASYAppCheckToken *token, NSError *error) { … }];
///
/// Make one for each app and keep it. Completion handlers are called once, on any thread.
@objc(ASYAppCheck) public final class ObjCAppCheck: NSObject {
    private let tokens: Result<AppCheck, AppCheckError>

    /// Makes the tokens of an app available; sends nothing.
    ///
    /// What is wrong with an argument is the error of each call.
    ///
    /// - Parameters:
    ///   - app: the app's resource name, `projects/PROJECT/apps/APP_ID`.
    ///   - endpoint: the server's URL.
    ///   - provider: what makes the evidence.
    ///   - accessGroup: the Keychain access group of an app and its extensions; nil for the app's own.
    @objc public init(app: String, endpoint: String, provider: ObjCTokenProvider, accessGroup: String?) {
        var options = AppCheckOptions()
        if let accessGroup { options.storage = KeychainStorage(accessGroup: accessGroup) }
        do throws(AppCheckError) {
            tokens = .success(
                try AppCheck(app: app, endpoint: endpoint, provider: provider.provider, options: options))
        } catch {
            tokens = .failure(error)
        }
    }

    /// Fetches a session token with more than five minutes left; from memory or the Keychain, unless a refresh is forced.
    @objc(tokenForcingRefresh:completion:)
    public func token(
        forcingRefresh: Bool, completion: @escaping @Sendable (ObjCAppCheckToken?, NSError?) -> Void
    ) {
        answer(completion) { tokens, completion in tokens.token(forcingRefresh: forcingRefresh, completion: completion)
        }
    }

    /// Fetches a token for one use.
    @objc(limitedUseTokenWithCompletion:)
    public func limitedUseToken(completion: @escaping @Sendable (ObjCAppCheckToken?, NSError?) -> Void) {
        answer(completion) { tokens, completion in tokens.limitedUseToken(completion: completion) }
    }

    /// The debug token that this device uses; nil where the provider has none.
    @objc public var currentDebugToken: String? {
        guard case .success(let tokens) = tokens else { return nil }
        return try? tokens.currentDebugToken()
    }

    private func answer(
        _ completion: @escaping @Sendable (ObjCAppCheckToken?, NSError?) -> Void,
        by ask: (AppCheck, @escaping @Sendable (AppCheckToken?, (any Error)?) -> Void) -> Void
    ) {
        switch tokens {
        case .failure(let error): completion(nil, NSError(error))
        case .success(let tokens):
            ask(tokens) { token, error in
                completion(token.map { ObjCAppCheckToken($0) }, error.map { NSError($0) })
            }
        }
    }
}

/// An App Check token, for code in Objective-C.
@objc(ASYAppCheckToken) public final class ObjCAppCheckToken: NSObject, Sendable {
    /// The JWT, for the header `X-Firebase-AppCheck`.
    @objc public let token: String
    /// When it ends, by the device's time of day, which users can set.
    @objc public let expirationDate: Date

    init(_ token: AppCheckToken) {
        (self.token, expirationDate) = (token.token, token.expirationDate)
    }
}
#endif
