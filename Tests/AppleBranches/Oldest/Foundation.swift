// swift-format-ignore-file
// What of Foundation the client uses, since when it is there. Without a version: on every system that has Swift.
public protocol NSObjectProtocol: AnyObject {}
open class NSObject: NSObjectProtocol {
    public init() {}
}
open class InputStream {}
@available(macOS 10.10, iOS 8.0, tvOS 9.0, watchOS 2.0, *)
public protocol ContiguousBytes {}
@available(macOS 10.10, iOS 8.0, tvOS 9.0, watchOS 2.0, *)
public protocol DataProtocol: RandomAccessCollection where Element == UInt8 {}
@available(macOS 10.10, iOS 8.0, tvOS 9.0, watchOS 2.0, *)
public struct Data: DataProtocol, ContiguousBytes, Sendable {
    public init() {}
    public init(_ bytes: some Sequence<UInt8>) {}
    public var startIndex: Int { 0 }
    public var endIndex: Int { 0 }
    public subscript(index: Int) -> UInt8 { 0 }
}
@available(macOS 10.10, iOS 8.0, tvOS 9.0, watchOS 2.0, *)
extension Array: DataProtocol where Element == UInt8 {}
@available(macOS 10.10, iOS 8.0, tvOS 9.0, watchOS 2.0, *)
extension Array: ContiguousBytes where Element == UInt8 {}
@available(macOS 10.10, iOS 8.0, tvOS 9.0, watchOS 2.0, *)
public struct Date: Sendable {
    public init(timeIntervalSinceNow seconds: Double) {}
}
@available(macOS 10.10, iOS 8.0, tvOS 9.0, watchOS 2.0, *)
public struct URL: Sendable {
    public init?(string: String) {}
    public var absoluteString: String { "" }
}
public let NSLocalizedDescriptionKey = ""
open class NSError: NSObject, Error, @unchecked Sendable {
    public init(domain: String, code: Int, userInfo: [String: Any]? = nil) {}
    public var domain: String { "" }
    public var code: Int { 0 }
    public var userInfo: [String: Any] { [:] }
}
