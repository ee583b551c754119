internal import NIOCore

/// Limits the frames with hardly any content that one connection may send: each costs the server as much as a full one.
///
/// A frame for each 64 bytes is free: requests with bodies or tokens use nothing of the allowance. What is used comes back with
/// time, so that a connection may live, and ping, for years.
struct FrameAllowance {
    private static let most: Int64 = 16_384
    private static let perSecond: Int64 = 2_000
    private static let bytesOfFrame = 64

    private var left = most
    private var last: NIODeadline?

    /// Whether so many frames with so many bytes are within the allowance, which they use.
    mutating func takes(_ frames: Int, bytes: Int, at now: NIODeadline) -> Bool {
        let cost = Int64(frames - bytes / FrameAllowance.bytesOfFrame)
        guard cost > 0 else { return true }
        if let last {
            let restored = (now - last).nanoseconds / (1_000_000_000 / FrameAllowance.perSecond)
            left = min(FrameAllowance.most, left + max(0, restored))
        }
        last = now
        left -= cost
        return left >= 0
    }
}
