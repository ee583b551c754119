/// Where a server is: `https://host[:port][/path][?query]`; plain `http` for this machine alone.
struct ServerAddress: Sendable {
    /// The whole URL.
    let text: String
    let isSecure: Bool
    /// In lower case; an IPv6 address without its brackets.
    let host: String
    let port: Int
    /// The path and the query, with the leading slash; empty when the URL has neither.
    let target: String

    /// Nil for a URL of another form: with a user, a fragment or characters beyond printable ASCII, or `http` to
    /// another machine.
    init?(_ text: String) {
        guard text.utf8.count <= 2048, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        let isSecure = text.begins(with: "https://")
        guard isSecure || text.begins(with: "http://") else { return nil }
        let rest = text.utf8.dropFirst(isSecure ? 8 : 7)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard let (host, port) = Self.hostAndPort(Array(authority)) else { return nil }
        self.text = text
        self.isSecure = isSecure
        self.host = host.loweredASCII
        self.port = port ?? (isSecure ? 443 : 80)
        target = String(decoding: rest.dropFirst(authority.count), as: UTF8.self)
        guard isSecure || isLoopback else { return nil }
    }

    /// Whether the host is spelt as this machine; no name is resolved.
    var isLoopback: Bool {
        ["localhost", "127.0.0.1", "::1"].contains { host.sameBytes(as: $0) }
    }

    /// The URL of something below this one; nil when this one has a query, or the result is malformed.
    ///
    /// - Parameter path: starts with a slash.
    func appending(_ path: String) -> ServerAddress? {
        guard !target.utf8.contains(UInt8(ascii: "?")) else { return nil }
        return ServerAddress(Self.withoutSlash(text) + path)
    }

    /// Whether two URLs have one origin: scheme, host and port.
    func hasOrigin(of other: ServerAddress) -> Bool {
        isSecure == other.isSecure && port == other.port && host.sameBytes(as: other.host)
    }

    /// Where a `Location` leads (RFC 9110, section 10.2.2); nil when it is no URL that may be called.
    func redirected(to location: String) -> ServerAddress? {
        if location.begins(with: "http://") || location.begins(with: "https://") { return ServerAddress(location) }
        let origin = String(decoding: text.utf8.dropLast(target.utf8.count), as: UTF8.self)
        guard location.begins(with: "/"), !location.begins(with: "//") else { return nil }
        return ServerAddress(origin + location)
    }

    /// An App Check service: App Check's own SDKs are given the URL with its version, and so it may be there.
    func service() -> ServerAddress? {
        guard !target.utf8.contains(UInt8(ascii: "?")) else { return nil }
        let whole = Self.withoutSlash(text)
        for version in ["/v1", "/v1beta"] where whole.utf8.reversed().starts(with: version.utf8.reversed()) {
            return ServerAddress(String(decoding: whole.utf8.dropLast(version.utf8.count), as: UTF8.self))
        }
        return ServerAddress(whole)
    }

    private static func withoutSlash(_ text: String) -> String {
        text.utf8.last == UInt8(ascii: "/") ? String(decoding: text.utf8.dropLast(), as: UTF8.self) : text
    }

    private static func hostAndPort(_ authority: [UInt8]) -> (host: String, port: Int?)? {
        let host: ArraySlice<UInt8>
        let rest: ArraySlice<UInt8>
        if authority.first == UInt8(ascii: "[") {
            guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            host = authority[1..<end]
            rest = authority[(end + 1)...]
            let isAddress = host.allSatisfy {
                $0.hexValue != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
            }
            guard isAddress, host.contains(UInt8(ascii: ":")), host.count <= 45 else { return nil }
        } else {
            host = authority.prefix { $0 != UInt8(ascii: ":") }
            rest = authority[host.endIndex...]
            guard (1...253).contains(host.count), host.first?.isAlphanumeric == true,
                host.allSatisfy({ $0.isAlphanumeric || "-._".utf8.contains($0) })
            else { return nil }
        }
        let name = String(decoding: host, as: UTF8.self)
        guard let colon = rest.first else { return (name, nil) }
        let digits = rest.dropFirst()
        guard colon == UInt8(ascii: ":"), (1...5).contains(digits.count), digits.allSatisfy(\.isDecimal),
            let port = Int(String(decoding: digits, as: UTF8.self)), (1...65_535).contains(port)
        else { return nil }
        return (name, port)
    }

    /// Printable ASCII, except what no part of a URL may have, and except the mark of a fragment.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"\"#<>\\^`{|}".utf8.contains(byte)
    }
}
