internal import ArgumentParser
internal import AssayKit

/// Which proxies say who their clients are.
struct ProxyOptions: ParsableArguments {
    @Option(
        name: .customLong("trusted-proxy"),
        help: ArgumentHelp(
            "A proxy in front of this server, whose X-Forwarded-For says who the client is: an address, or a range such as "
                + "10.0.0.0/8. May be given several times.",
            valueName: "cidr"))
    var trustedProxies: [TrustedProxy] = []

    var ranges: [IPRange] { trustedProxies.map(\.range) }
}

/// An address or a range of addresses, but not all there are: clients would be believed, too.
struct TrustedProxy: ExpressibleByArgument, Sendable {
    let range: IPRange

    init?(argument: String) {
        guard let range = IPRange(argument), !range.isEverything else { return nil }
        self.range = range
    }
}
