extension EndpointURL {
    /// Whether the host stands for this machine, or for whatever is on the same link without an address of its own, as far
    /// as its spelling tells: `localhost` and names below it, loopback, unspecified and link-local addresses of IPv4 and
    /// IPv6 in any spelling that resolvers take (`127.1`, `0x7f000001`, `::ffff:127.0.0.1`), and the names by which
    /// containers call their own machine.
    public var isOnThisMachine: Bool {
        if let address = IPAddress(host) ?? Self.looseIPv4(host) { return address.isOfThisMachine }
        var name = host.lowercasedASCII[...]
        while name.ends(withExactly: ".") { name = name.dropLast() }
        return Self.localNames.contains(exactly: String(name))
            || Self.localDomains.contains { name.ends(withExactly: $0) }
    }

    /// Names of this machine, or of the one that a container runs on.
    private static let localNames = [
        "localhost", "localhost.localdomain", "localhost4", "localhost4.localdomain4", "localhost6",
        "localhost6.localdomain6", "ip6-localhost", "ip6-loopback", "loopback", "host.containers.internal",
        "host.minikube.internal", "host.lima.internal",
    ]
    /// RFC 6761, section 6.3, and Docker's.
    private static let localDomains = [".localhost", ".docker.internal"]

    /// The spellings of IPv4 addresses that `inet_aton` takes: one to four numbers, decimal, octal or hexadecimal, of which
    /// the last one fills what is left.
    private static func looseIPv4(_ host: String) -> IPAddress? {
        var text = host[...]
        if text.ends(withExactly: ".") { text = text.dropLast() }
        let parts = text.split(onASCII: ".", maxSplits: 4).map { number($0) }
        guard (1...4).contains(parts.count) else { return nil }
        var address: UInt64 = 0
        for (index, part) in parts.enumerated() {
            let bits = index == parts.count - 1 ? UInt64(8 * (5 - parts.count)) : 8
            guard let part, part < 1 << bits else { return nil }
            address = address << bits | part
        }
        return IPAddress(high: 0, low: 0xFFFF << 32 | address)
    }

    private static func number(_ text: Substring) -> UInt64? {
        let lower = String(text).lowercasedASCII
        guard (1...12).contains(lower.utf8.count) else { return nil }
        if let digits = lower.dropping(prefix: "0x") { return digits.isEmpty ? 0 : UInt64(digits, radix: 16) }
        if let digits = lower.dropping(prefix: "0"), !digits.isEmpty { return UInt64(digits, radix: 8) }
        return UInt64(lower)
    }
}

extension IPAddress {
    /// Whether it is a loopback, unspecified or link-local address (RFC 6890), also within an IPv6 address.
    var isOfThisMachine: Bool {
        let lowest = low & 0xFFFF_FFFF
        // IPv4, mapped or compatible (RFC 4291, section 2.5.5), or translated (RFC 6052, section 2.1).
        let holdsIPv4 = high == 0 && (isIPv4 || low >> 32 == 0) || high == 0x0064_FF9B << 32 && low >> 32 == 0
        if holdsIPv4 {
            // `::` and `::1` are of this machine as well.
            return lowest >> 24 == 127 || lowest >> 24 == 0 || lowest >> 16 == 0xA9FE
        }
        // fe80::/10
        return high >> 54 == 0x3FA
    }
}
