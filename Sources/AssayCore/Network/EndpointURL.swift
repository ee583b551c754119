/// Where another server is called: `https://host[:port][/path][?query]`, and no other form of URL.
///
/// Plain `http` is for this machine alone (`localhost`, `127.0.0.1`, `[::1]`): for a test or a proxy next to the
/// server. User names and passwords are refused, since a policy must not contain secrets; so are fragments and
/// characters other than printable ASCII.
public struct EndpointURL: Sendable, Hashable, Decodable, CustomStringConvertible {
    /// The whole URL.
    @Exact public private(set) var text: String
    /// Whether it is `https`.
    public let isSecure: Bool
    /// The host's name or address; an IPv6 address without its brackets.
    @Exact public private(set) var host: String
    /// The port; the scheme's own one when the URL names none.
    public let port: Int
    /// The path with its leading slash; empty when the URL has none.
    @Exact public private(set) var path: String
    /// The text after the question mark; nil without one.
    @Exact public private(set) var query: String?

    /// A URL from its text; nil for any other text.
    public init?(_ text: String) {
        guard text.utf8.count <= 2048, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        let (isSecure, rest): (Bool, String)
        if let secure = text.dropping(prefix: "https://") {
            (isSecure, rest) = (true, secure)
        } else if let plain = text.dropping(prefix: "http://") {
            (isSecure, rest) = (false, plain)
        } else {
            return nil
        }
        let authority = rest.prefix(upTo: rest.firstIndex(ofASCII: "/", "?"))
        guard let (host, port) = Self.hostAndPort(authority) else { return nil }
        guard isSecure || ["localhost", "127.0.0.1", "::1"].contains(exactly: host) else { return nil }
        let target = rest[authority.endIndex...]
        let path = target.prefix(upTo: target.firstIndex(ofASCII: "?"))
        self.text = text
        self.isSecure = isSecure
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
        self.path = String(path)
        self.query = path.endIndex < target.endIndex ? String(target[path.endIndex...].utf8.dropFirst()) : nil
    }

    /// Decodes a URL from its text; the decoding fails for any other form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let url = EndpointURL(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "expected a URL such as https://host/path, without user, password and fragment; "
                    + "http is for localhost only")
        }
        self = url
    }

    /// The URL of something below this one, whose path must not have a query; nil when it has, or is malformed.
    ///
    /// - Parameter path: starts with a slash.
    public func appending(_ path: String) -> EndpointURL? {
        guard query.isNil, path.starts(withExactly: "/") else { return nil }
        return EndpointURL((text.ends(withExactly: "/") ? String(text.dropLast()) : text) + path)
    }

    /// The URL as it was written.
    public var description: String { text }

    private static func hostAndPort(_ authority: Substring) -> (host: String, port: Int?)? {
        let host: Substring
        let rest: Substring
        if authority.starts(withExactly: "[") {
            guard let end = authority.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<end]
            rest = authority[authority.index(after: end)...]
            guard host.utf8.contains(UInt8(ascii: ":")), host.utf8.count <= 45, host.utf8.allSatisfy(isOfIPv6) else {
                return nil
            }
        } else {
            host = authority.prefix(upTo: authority.firstIndex(ofASCII: ":"))
            rest = authority[host.endIndex...]
            guard (1...253).contains(host.utf8.count), host.utf8.allSatisfy(isOfName), !host.starts(withExactly: "-"),
                !host.starts(withExactly: ".")
            else { return nil }
        }
        if rest.isEmpty { return (String(host), nil) }
        let digits = rest.dropFirst()
        guard rest.starts(withExactly: ":"), (1...5).contains(digits.utf8.count),
            digits.utf8.allSatisfy(\.isASCIIDigit),
            let port = Int(digits), (1...65_535).contains(port)
        else { return nil }
        return (String(host), port)
    }

    /// Printable ASCII, except what RFC 3986 allows in no part of a URL, and except the fragment's mark.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !Array("\"#<>\\^`{|}".utf8).contains(byte)
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || "-._".utf8.contains(byte)
    }

    private static func isOfIPv6(_ byte: UInt8) -> Bool {
        byte.hexDigitValue != nil || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
    }
}

extension EndpointURL {
    /// Whether the spelling of the host means this machine or a link-local peer; no name is resolved.
    ///
    /// These are `localhost` and names below it, loopback, unspecified and link-local addresses of IPv4 and IPv6 in any
    /// spelling that resolvers accept (`127.1`, `0x7f000001`, `::ffff:127.0.0.1`), and the names by which containers
    /// call their host.
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

    /// The spellings of IPv4 addresses that `inet_aton` accepts: one to four numbers, decimal, octal or hexadecimal, of
    /// which the last one fills the remaining bytes.
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
