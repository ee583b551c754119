// swift-format-ignore-file
// What an app's code uses of Firebase's SDK for App Check, by the names that its headers give to Swift. The module is in Objective-C.
public import FirebaseCore
public import Foundation

public final class AppCheckToken: NSObject {
    public let token: String
    public let expirationDate: Date
    public init(token: String, expirationDate: Date) { (self.token, self.expirationDate) = (token, expirationDate) }
}
public protocol AppCheckProvider: NSObjectProtocol {
    func getToken(completion handler: @escaping (AppCheckToken?, (any Error)?) -> Void)
    // Optional in the SDK.
    func getLimitedUseToken(completion handler: @escaping (AppCheckToken?, (any Error)?) -> Void)
}
public protocol AppCheckProviderFactory: NSObjectProtocol {
    func createProvider(with app: FirebaseApp) -> (any AppCheckProvider)?
}
public final class AppCheck: NSObject {
    public static func setAppCheckProviderFactory(_ factory: (any AppCheckProviderFactory)?) {}
    public static func appCheck() -> AppCheck { AppCheck() }
    public func token(forcingRefresh: Bool) async throws -> AppCheckToken { AppCheckToken(token: "", expirationDate: Date()) }
}
public final class AppAttestProvider: NSObject {}
