/// The peers of calls, as transports of grpc-swift describe them: `ipv4:127.0.0.1:443`, `unix:/run/a.sock`.
enum PeerAddress {
    /// Whether what is sent to a peer stays on this machine; false for a description of another form.
    static func isThisMachine(_ peer: String) -> Bool {
        let peer = peer.utf8
        if peer.starts(with: "in-process:".utf8) || peer.starts(with: "unix:".utf8) { return true }
        if peer.starts(with: "ipv6:[::1]:".utf8) { return true }
        let loopback = "ipv4:127.".utf8
        // An address and a port, and no name that begins like one.
        return peer.starts(with: loopback)
            && peer.dropFirst(loopback.count).allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E || $0 == 0x3A }
    }
}
