internal import AssayCore
internal import AssayHTTPServer

/// `HOST:PORT` as ``ListenAddress`` has it, `unix:PATH`, or `systemd:` with the name of a socket or without.
enum SocketAddress: Sendable {
    case host(ListenAddress)
    case unixSocket(String)
    case systemd(name: String?)

    /// Reads one of the three forms.
    init(_ text: String) throws(ArgumentCause) {
        if let path = text.dropping(prefix: "unix:") {
            // What fits into the system's structure.
            guard (1...103).contains(path.utf8.count) else { throw "the path has not 1 to 103 bytes" }
            self = .unixSocket(path)
        } else if let name = text.dropping(prefix: "systemd:") {
            self = .systemd(name: name.isEmpty ? nil : name)
        } else {
            self = .host(try ListenAddress(text))
        }
    }

    /// Whether only this machine reaches it, as far as that is known before systemd's sockets are taken.
    var isLocal: Bool {
        switch self {
        case .unixSocket: true
        case .systemd: false
        case .host(let address):
            address.host == "localhost" || address.host == "::1"
                || (address.host.hasPrefix("127.") && address.host.allSatisfy { $0.isNumber || $0 == "." })
        }
    }

    /// Whether a listener at the one address would be in the way of a listener at the other.
    func collides(with other: SocketAddress) -> Bool {
        switch (self, other) {
        case (.host(let one), .host(let other)):
            one.port == other.port && one.port != 0
                && (one.host.isExactly(other.host) || one.isEverywhere || other.isEverywhere)
        case (.unixSocket(let one), .unixSocket(let other)): one.isExactly(other)
        case (.systemd(let one?), .systemd(let other?)): one.isExactly(other)
        case (.systemd(nil), .systemd(nil)): true
        default: false
        }
    }

    var isUnixSocket: Bool {
        if case .unixSocket = self { true } else { false }
    }

    /// - Parameter mode: the permissions of a Unix socket; by default only the process's own user may connect.
    func address(mode: SocketMode?) -> ListenerAddress {
        switch self {
        case .host(let address): .host(address.host, port: address.port)
        case .unixSocket(let path): .unixSocket(path, mode: mode?.bits ?? 0o600)
        case .systemd(let name): .systemd(name: name)
        }
    }
}

extension ArgumentReader<SocketAddress> {
    /// An address to listen on.
    static var socketAddress: Self {
        ArgumentReader(
            accepted: "HOST:PORT, unix:PATH, systemd: or systemd:NAME", text: { "\($0.address(mode: nil))" }
        ) { text throws(ArgumentCause) in try SocketAddress(text) }
    }
}
