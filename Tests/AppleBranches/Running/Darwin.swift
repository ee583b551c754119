// swift-format-ignore-file
// What of Apple's C library the client uses and Linux's does not have, so that it runs.
@_exported public import Glibc

public struct mach_timebase_info_data_t: Sendable {
    public var numer: UInt32 = 0
    public var denom: UInt32 = 0
    public init() {}
    public init(numer: UInt32, denom: UInt32) { (self.numer, self.denom) = (numer, denom) }
}
/// As on Macs with processors of Apple's: 24 ticks in a microsecond.
@discardableResult
public func mach_timebase_info(_ info: UnsafeMutablePointer<mach_timebase_info_data_t>?) -> Int32 {
    info?.pointee = mach_timebase_info_data_t(numer: 125, denom: 3)
    return 0
}
public func mach_continuous_time() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return (UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)) * 3 / 125
}
public func sysctlbyname(
    _ name: UnsafePointer<CChar>?, _ old: UnsafeMutableRawPointer?, _ size: UnsafeMutablePointer<Int>?,
    _ new: UnsafeMutableRawPointer?, _ count: Int
) -> Int32 {
    let text = Array("8A1F2C3D-0000-4000-8000-000000000001".utf8) + [0]
    guard let old, let size, size.pointee >= text.count else { return -1 }
    old.copyMemory(from: text, byteCount: text.count)
    size.pointee = text.count
    return 0
}
