internal import ArgumentParser
internal import AssayTransport

/// `HOST:PORT` as ``ListenAddress`` has it, `unix:PATH`, or `systemd:` with the name of a socket or without.
enum SocketAddress: ExpressibleByArgument, Sendable {
    case host(ListenAddress)
    case unixSocket(String)
    case systemd(name: String?)

    init?(argument: String) {
        if argument.hasPrefix("unix:") {
            let path = String(argument.dropFirst(5))
            // What fits into the system's structure.
            guard (1...103).contains(path.utf8.count) else { return nil }
            self = .unixSocket(path)
        } else if argument.hasPrefix("systemd:") {
            let name = String(argument.dropFirst(8))
            self = .systemd(name: name.isEmpty ? nil : name)
        } else {
            guard let address = ListenAddress(argument: argument) else { return nil }
            self = .host(address)
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

    var isUnixSocket: Bool {
        if case .unixSocket = self { true } else { false }
    }

    var defaultValueDescription: String { "\(address(mode: nil))" }

    /// - Parameter mode: the permissions of a Unix socket; by default only the process's own user may connect.
    func address(mode: SocketMode?) -> ListenerAddress {
        switch self {
        case .host(let address): .host(address.host, port: address.port)
        case .unixSocket(let path): .unixSocket(path, mode: mode?.bits ?? 0o600)
        case .systemd(let name): .systemd(name: name)
        }
    }
}
