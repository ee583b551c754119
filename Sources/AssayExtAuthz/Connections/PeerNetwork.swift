internal import NIOCore

/// By whom connections are counted.
enum PeerNetwork: Sendable, Hashable {
    /// Who may use the Unix socket.
    case local
    /// An address.
    case ipv4(UInt32)
    /// The first 64 bits of an address: what one client has at least (RFC 6177).
    case ipv6(UInt64)

    init(_ address: SocketAddress?) {
        guard let address else {
            self = .local
            return
        }
        self =
            address.withSockAddr { pointer, size in
                let bytes = UnsafeRawBufferPointer(start: pointer, count: size)
                return switch address {
                case .v4: PeerNetwork(ipv4: bytes.dropFirst(4))
                case .v6: PeerNetwork(ipv6: bytes.dropFirst(8))
                case .unixDomainSocket: nil
                }
            } ?? .local
    }

    /// - Parameter bytes: what `sockaddr_in` has behind family and port.
    private init?(ipv4 bytes: some Sequence<UInt8>) {
        let address = Array(bytes.prefix(4))
        guard address.count == 4 else { return nil }
        self = .ipv4(address.reduce(0) { $0 << 8 | UInt32($1) })
    }

    /// - Parameter bytes: what `sockaddr_in6` has behind family, port and flow.
    private init?(ipv6 bytes: some Sequence<UInt8>) {
        let address = Array(bytes.prefix(16))
        guard address.count == 16 else { return nil }
        // An IPv4 client of a socket for both (RFC 4291, section 2.5.5.2).
        if address.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]) {
            self.init(ipv4: address[12...])
        } else {
            self = .ipv6(address[..<8].reduce(0) { $0 << 8 | UInt64($1) })
        }
    }
}
