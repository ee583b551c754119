internal import ArgumentParser
internal import AssayCore
internal import AssayHTTP

/// Which proxies say who their clients are.
struct ProxyOptions: ParsableArguments {
    @Option(
        name: .customLong("trusted-proxy"),
        help: "A proxy in front of this server, whose X-Forwarded-For names the client: an address, or a range such as "
            + "10.0.0.0/8; or `unix` for all clients of a Unix socket. May be given several times.",
        valueName: "cidr|unix", reading: .trustedProxy)
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
enum TrustedProxy: Sendable {
    case range(IPRange)
    case sockets
}

extension ArgumentReader<TrustedProxy> {
    /// Who is believed.
    static var trustedProxy: Self {
        ArgumentReader(accepted: "an address, a range such as 10.0.0.0/8, or `unix`") { text throws(ArgumentCause) in
            if text.isExactly("unix") { return .sockets }
            guard let range = IPRange(text) else { throw "neither an address nor a range" }
            guard !range.isEverything else { throw "all addresses: every client could forge its own" }
            return .range(range)
        }
    }
}
