// swift-format-ignore-file
// The same of Google's Consumer SDK.
public import Foundation

public final class GMTCAuthorizationContext: NSObject {
    public var tripID: String { "" }
}
public typealias GMTCAuthTokenFetchCompletionHandler = (String?, (any Error)?) -> Void
public protocol GMTCAuthorization: NSObjectProtocol {
    func fetchToken(
        with authorizationContext: GMTCAuthorizationContext?, completion: @escaping GMTCAuthTokenFetchCompletionHandler)
}
