/// The peer that a request counts for in limits on unverified requests: an IPv4 address, or the /64 of an IPv6 address.
///
/// A host can use every address of its /64.
///
/// It is only as accurate as the address that the transport knows. Behind a proxy that is not configured as trusted,
/// all clients are one group; a limit by group must then not be stricter than the limit for all peers.
public struct PeerGroup: Sendable, Hashable {
    private enum Family: UInt8 {
        case unknown, ipv4, ipv6
    }

    private let family: Family
    /// The address, or the first half of it.
    private let number: UInt64

    /// The one group of all that have no address: callers in the process, and over Unix sockets.
    public static let unknown = PeerGroup(.unknown, 0)

    private init(_ family: Family, _ number: UInt64) {
        self.family = family
        self.number = number
    }

    /// The group of an address; an IPv4 address in the NAT64 prefix `64:ff9b::/96` (RFC 6052) counts as IPv4.
    public init(_ address: IPAddress) {
        // RFC 6052: where IPv6 hosts serve clients of IPv4, all of these come from one /96.
        if address.isIPv4 || (address.high == 0x0064_FF9B_0000_0000 && address.low >> 32 == 0) {
            self.init(.ipv4, address.low & 0xFFFF_FFFF)
        } else {
            self.init(.ipv6, address.high)
        }
    }

    /// The group of a call's peer, from `Call.peer`; ``unknown`` for text that is not an address.
    public init(_ peer: String?) {
        self = peer.flatMap { IPAddress($0) }.map { PeerGroup($0) } ?? .unknown
    }

    /// The network that the group is a part of: what one customer of a provider has at most, as a rule.
    ///
    /// A /48 of IPv6, a /24 of IPv4.
    public var network: PeerNetwork {
        switch family {
        case .unknown: PeerNetwork(bits: 0)
        case .ipv4: PeerNetwork(bits: 1 << 62 | number >> 8)
        case .ipv6: PeerNetwork(bits: 1 << 63 | number >> 16)
        }
    }

    /// The /48 that an IPv6 address belongs to, which one customer of a provider has as a rule; nil for all others.
    ///
    /// A group of its own kind, to be kept apart from those of hosts.
    public var site: PeerGroup? {
        family == .ipv6 ? PeerGroup(.ipv6, (number >> 16) << 16) : nil
    }

    /// Whether the address is one of the Internet's.
    ///
    /// Others are of the operator's own network, and often a proxy's; so is an unknown one.
    public var isOfTheInternet: Bool {
        switch family {
        case .unknown: false
        case .ipv4: !Self.local.contains { number >> $0.shift == $0.prefix }
        case .ipv6: number >> 61 == 0b001
        }
    }

    /// RFC 6890: this host, private use, shared address space, loopback, link-local, multicast and reserved.
    private static let local: [(prefix: UInt64, shift: UInt64)] = [
        (0, 24), (10, 24), (0x191, 22), (127, 24), (0xA9FE, 16), (0xAC1, 20), (0xC0A8, 16), (0x7, 29),
    ]
}

/// A part of the Internet that one party may have as a whole.
public struct PeerNetwork: Sendable, Hashable {
    fileprivate let bits: UInt64
}
