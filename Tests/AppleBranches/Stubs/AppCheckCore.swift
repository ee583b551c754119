// swift-format-ignore-file
// What an app's code uses of AppCheckCore, by the names that its headers give to Swift. The module is in Objective-C.
public import Foundation

public final class AppCheckCoreToken: NSObject {
    public let token: String
    public let expirationDate: Date
    public init(token: String, expirationDate: Date) { (self.token, self.expirationDate) = (token, expirationDate) }
}
public protocol AppCheckCoreProvider: NSObjectProtocol {
    func getToken(completion handler: @escaping (AppCheckCoreToken?, (any Error)?) -> Void)
    func getLimitedUseToken(completion handler: @escaping (AppCheckCoreToken?, (any Error)?) -> Void)
}
