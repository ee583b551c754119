internal import ArgumentParser
internal import AssayCore
internal import AssayHTTP

/// Which proxies say who their clients are.
struct ProxyOptions: ParsableArguments {
    @Option(
        name: .customLong("trusted-proxy"),
        help: ArgumentHelp(
            "A proxy in front of this server, whose X-Forwarded-For names the client: an address, or a range such as "
                + "10.0.0.0/8; or `unix` for all clients of a Unix socket. May be given several times.",
            valueName: "cidr|unix"))
    var trustedProxies: [TrustedProxy] = []

    var proxies: TrustedProxies {
        var ranges: [IPRange] = []
        var includesSockets = false
        for proxy in trustedProxies {
            switch proxy {
            case .range(let range): ranges.append(range)
            case .sockets: includesSockets = true
            }
        }
        return TrustedProxies(ranges, includesSockets: includesSockets)
    }
}

/// An address or a range of addresses, but not all there are: clients would be believed, too; or who connects through a Unix
/// socket.
enum TrustedProxy: ExpressibleByArgument, Sendable {
    case range(IPRange)
    case sockets

    init?(argument: String) {
        if argument.isExactly("unix") {
            self = .sockets
        } else {
            guard let range = IPRange(argument), !range.isEverything else { return nil }
            self = .range(range)
        }
    }
}
