// swift-format-ignore-file
// What of Apple's C library the client uses, since when it is there.
public typealias off_t = Int64
public typealias mode_t = UInt16
public typealias uid_t = UInt32
public struct timespec { public var tv_sec = 0; public var tv_nsec = 0; public init() {} }
public struct clockid_t: Sendable {}
public struct stat {
    public var st_mode: mode_t = 0
    public var st_uid: uid_t = 0
    public init() {}
}
@available(macOS 10.12, iOS 10.0, tvOS 10.0, watchOS 3.0, *)
public let CLOCK_REALTIME = clockid_t()
@available(macOS 10.12, iOS 10.0, tvOS 10.0, watchOS 3.0, *) @discardableResult
public func clock_gettime(_ clock: clockid_t, _ time: UnsafeMutablePointer<timespec>!) -> Int32 { 0 }

public var errno: Int32 { get { 0 } set {} }
public let (ENOENT, ENOTDIR, EINTR, EEXIST, EWOULDBLOCK): (Int32, Int32, Int32, Int32, Int32) = (2, 20, 4, 17, 35)
public let (O_RDONLY, O_WRONLY, O_CREAT, O_EXCL): (Int32, Int32, Int32, Int32) = (0, 1, 0x200, 0x800)
public let (O_CLOEXEC, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY): (Int32, Int32, Int32, Int32) = (0x100_0000, 0x100, 4, 0x10_0000)
public let (LOCK_EX, LOCK_NB, LOCK_UN): (Int32, Int32, Int32) = (2, 4, 8)
public let (S_IFMT, S_IFREG): (mode_t, mode_t) = (0o170000, 0o100000)
public let F_OK: Int32 = 0
public func access(_ path: UnsafePointer<CChar>!, _ mode: Int32) -> Int32 { 0 }
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { 0 }
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { 0 }
@discardableResult public func close(_ file: Int32) -> Int32 { 0 }
public func read(_ file: Int32, _ buffer: UnsafeMutableRawPointer!, _ count: Int) -> Int { 0 }
public func write(_ file: Int32, _ buffer: UnsafeRawPointer!, _ count: Int) -> Int { 0 }
@discardableResult public func unlink(_ path: UnsafePointer<CChar>!) -> Int32 { 0 }
public func rename(_ old: UnsafePointer<CChar>!, _ new: UnsafePointer<CChar>!) -> Int32 { 0 }
public func mkdir(_ path: UnsafePointer<CChar>!, _ mode: mode_t) -> Int32 { 0 }
public func fsync(_ file: Int32) -> Int32 { 0 }
public func flock(_ file: Int32, _ operation: Int32) -> Int32 { 0 }
@discardableResult public func usleep(_ microseconds: UInt32) -> Int32 { 0 }
public func fstat(_ file: Int32, _ status: UnsafeMutablePointer<stat>!) -> Int32 { 0 }
public func geteuid() -> uid_t { 0 }
public func getenv(_ name: UnsafePointer<CChar>!) -> UnsafeMutablePointer<CChar>! { nil }
public func strerror(_ code: Int32) -> UnsafeMutablePointer<CChar>! { nil }
