#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The source that many requests are counted for: an IPv4 address, or the /64 of an IPv6 address, because a single
/// customer has all its addresses (RFC 6177).
public struct FloodSource: Sendable, Hashable {
    /// 4 bytes, 8 bytes, or the text if it is not an address.
    private let bytes: [UInt8]

    /// - Parameter peer: an address as a transport writes it, without a port; other text is used as it is, up to 64
    ///   bytes.
    public init(_ peer: String) {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, peer, &four) == 1 {
            bytes = withUnsafeBytes(of: four) { Array($0) }
        } else if inet_pton(AF_INET6, peer, &six) == 1 {
            let all = withUnsafeBytes(of: six) { Array($0) }
            // An IPv4 address in the form of IPv6 (RFC 4291, section 2.5.5.2).
            let isMapped = all.prefix(12).elementsEqual([UInt8](repeating: 0, count: 10) + [0xFF, 0xFF])
            bytes = Array(isMapped ? all.suffix(4) : all.prefix(8))
        } else {
            bytes = [0] + Array(peer.utf8.prefix(64))
        }
    }
}
