// swift-format-ignore-file
// What of Apple's C library the client uses and Linux's does not have.
@_exported import Glibc

public struct mach_timebase_info_data_t: Sendable {
    public var numer: UInt32 = 0
    public var denom: UInt32 = 0
    public init() {}
    public init(numer: UInt32, denom: UInt32) {}
}
@discardableResult
public func mach_timebase_info(_ info: UnsafeMutablePointer<mach_timebase_info_data_t>?) -> Int32 { 0 }
@available(macOS 10.12, iOS 10.0, tvOS 10.0, watchOS 3.0, *)
public func mach_continuous_time() -> UInt64 { 0 }
public func sysctlbyname(
    _ name: UnsafePointer<CChar>?, _ old: UnsafeMutableRawPointer?, _ size: UnsafeMutablePointer<Int>?,
    _ new: UnsafeMutableRawPointer?, _ count: Int
) -> Int32 { 0 }
