/// Where another server is called: `https://host[:port][/path][?query]`, and nothing else that a URL can be.
///
/// Plain `http` is for this machine alone (`localhost`, `127.0.0.1`, `[::1]`): for a test or a proxy beside the server.
/// Names and passwords are refused, since a secret must not stand in a policy, and so are fragments and whatever is not
/// printable ASCII.
public struct EndpointURL: Sendable, Hashable, Decodable, CustomStringConvertible {
    /// The whole URL.
    @Exact public private(set) var text: String
    /// Whether it is `https`.
    public let isSecure: Bool
    /// The host's name or address; an IPv6 address without its brackets.
    @Exact public private(set) var host: String
    /// The port; the scheme's own one when the URL names none.
    public let port: Int
    /// The path, beginning with a slash; empty when the URL has none.
    @Exact public private(set) var path: String
    /// What stands behind the question mark; nil without one.
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
    /// - Parameter path: begins with a slash.
    public func appending(_ path: String) -> EndpointURL? {
        guard query.isNil, path.starts(withExactly: "/") else { return nil }
        return EndpointURL((text.ends(withExactly: "/") ? String(text.dropLast()) : text) + path)
    }

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
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let port = Int(digits), (1...65_535).contains(port)
        else { return nil }
        return (String(host), port)
    }

    /// Printable ASCII but for what RFC 3986 has in no part of a URL, and for the fragment's mark.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !Array("\"#<>\\^`{|}".utf8).contains(byte)
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isOfIPv6(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: ":"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
