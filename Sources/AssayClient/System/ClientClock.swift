#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#endif

/// What lifetimes are measured by, and what waits; tests have a clock of their own.
public protocol ClientClock: Sendable {
    /// The present moment.
    var now: Moment { get }
    /// Which start of the device the moments count from; nil when it cannot be known.
    ///
    /// Moments of two starts cannot be compared: a stored token is read only in the boot that it was stored in.
    var boot: String? { get }
    /// The wall clock in milliseconds since 1970; used only for replies that tell an end and no lifetime.
    var unixMilliseconds: Int64 { get }
    /// Returns at a moment or later, or throws when the task is cancelled.
    func sleep(until moment: Moment) async throws
}

/// The device's clock: `CLOCK_BOOTTIME` on Linux, `mach_continuous_time` on Apple's systems.
public struct SystemClientClock: ClientClock {
    /// Makes the clock.
    public init() {}

    /// The present moment.
    public var now: Moment {
        #if canImport(Darwin)
        let ticks = mach_continuous_time()
        let product = ticks.multipliedFullWidth(by: UInt64(Self.timebase.numer))
        let denominator = UInt64(Self.timebase.denom)
        guard product.high < denominator else { return Moment(uptime: Interval(nanoseconds: .max)) }
        let nanoseconds = denominator.dividingFullWidth(product).quotient
        return Moment(uptime: Interval(nanoseconds: Int64(clamping: nanoseconds)))
        #else
        let time = Self.reading(of: CLOCK_BOOTTIME)
        return Moment(uptime: .seconds(Int64(time.tv_sec)) + Interval(nanoseconds: Int64(time.tv_nsec)))
        #endif
    }

    /// Which start of the device this is.
    public var boot: String? { Self.bootSession }

    /// The time of day.
    public var unixMilliseconds: Int64 {
        let time = Self.reading(of: CLOCK_REALTIME)
        return Int64(time.tv_sec) &* 1000 &+ Int64(time.tv_nsec) / 1_000_000
    }

    /// Sleeps in parts of a minute at most: a timer of the system may stand still while the device sleeps.
    public func sleep(until moment: Moment) async throws {
        while true {
            let left = moment - now
            guard left > .zero else { return }
            let part = min(left, .minutes(1))
            try await Task.sleep(nanoseconds: UInt64(part.nanoseconds.magnitude))
        }
    }

    private static func reading(of clock: clockid_t) -> timespec {
        var time = timespec()
        clock_gettime(clock, &time)
        return time
    }

    #if canImport(Darwin)
    private static let timebase: mach_timebase_info_data_t = {
        var timebase = mach_timebase_info_data_t()
        mach_timebase_info(&timebase)
        return timebase.denom == 0 ? mach_timebase_info_data_t(numer: 1, denom: 1) : timebase
    }()

    private static let bootSession: String? = {
        var bytes = [CChar](repeating: 0, count: 64)
        var size = bytes.count - 1
        guard sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return nil }
        let text = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.utf8.count >= 32 ? text : nil
    }()
    #else
    private static let bootSession: String? = {
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(file, &bytes, bytes.count)
        guard count >= 32 else { return nil }
        return String(decoding: bytes.prefix(count).prefix { $0 > 0x20 }, as: UTF8.self)
    }()
    #endif
}
