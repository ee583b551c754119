internal import ArgumentParser
internal import AssayExtAuthz

/// `HOST:PORT` as ``ListenAddress`` has it, or `unix:PATH`.
enum SocketAddress: ExpressibleByArgument, Sendable {
    case host(ListenAddress)
    case unixSocket(String)

    init?(argument: String) {
        if argument.hasPrefix("unix:") {
            let path = String(argument.dropFirst(5))
            // What fits into the system's structure.
            guard (1...103).contains(path.utf8.count) else { return nil }
            self = .unixSocket(path)
        } else {
            guard let address = ListenAddress(argument: argument) else { return nil }
            self = .host(address)
        }
    }

    /// Whether only this machine reaches it.
    var isLocal: Bool {
        switch self {
        case .unixSocket: true
        case .host(let address):
            address.host == "localhost" || address.host == "::1"
                || (address.host.hasPrefix("127.") && address.host.allSatisfy { $0.isNumber || $0 == "." })
        }
    }

    var extAuthz: ExtAuthzConfiguration.Address {
        switch self {
        case .host(let address): .host(address.host, port: address.port)
        case .unixSocket(let path): .unixSocket(path)
        }
    }
}
