// swift-format-ignore-file
// What Foundation adds in Swift: texts and dates that cross to Objective-C, and errors.
@_exported import Foundation

extension String: @retroactive _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> NSString { NSString() }
    public static func _forceBridgeFromObjectiveC(_ source: NSString, result: inout String?) {}
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSString, result: inout String?) -> Bool { true }
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSString?) -> String { "" }
}
public struct Date: Sendable {
    public init(timeIntervalSinceNow: Double) {}
}
extension Date: _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> NSDate { NSDate() }
    public static func _forceBridgeFromObjectiveC(_ source: NSDate, result: inout Date?) {}
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSDate, result: inout Date?) -> Bool { true }
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSDate?) -> Date { Date(timeIntervalSinceNow: 0) }
}
public let NSLocalizedDescriptionKey = ""
extension NSError: @unchecked Sendable, Error {
    public convenience init(domain: String, code: Int, userInfo: [String: Any]?) { self.init() }
    public var domain: String { "" }
    public var code: Int { 0 }
    public var userInfo: [String: Any] { [:] }
}
