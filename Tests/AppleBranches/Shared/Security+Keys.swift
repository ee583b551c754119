// swift-format-ignore-file
public final class SecAccessControl {}
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    public let rawValue: CFOptionFlags
    public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }
    @available(macOS 10.12.1, iOS 9.0, tvOS 9.0, watchOS 2.0, *)
    public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
}
public typealias CFOptionFlags = UInt
public typealias CFAllocator = AnyObject
@available(macOS 10.10, iOS 8.0, tvOS 9.0, watchOS 2.0, *)
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: CFString, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<AnyObject>?>?
) -> SecAccessControl? { nil }
