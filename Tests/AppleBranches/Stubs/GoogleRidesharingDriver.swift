// swift-format-ignore-file
// What an app's code uses of Google's Driver SDK, by the names that Google's public samples use. The module is in Objective-C.
public import Foundation

public final class GMTDAuthorizationContext: NSObject {
    public var vehicleID: String { "" }
    public var taskID: String? { nil }
}
public typealias GMTDAuthTokenFetchCompletionHandler = (String?, (any Error)?) -> Void
public protocol GMTDAuthorization: NSObjectProtocol {
    func fetchToken(
        with authorizationContext: GMTDAuthorizationContext?, completion: @escaping GMTDAuthTokenFetchCompletionHandler)
}
