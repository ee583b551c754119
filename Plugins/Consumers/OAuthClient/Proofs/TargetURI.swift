public import AssayCore

/// The URI of a request as a proof names it: without query and fragment, in the canonical spelling (RFC 9449, section
/// 4.3; RFC 3986, sections 6.2.2 and 6.2.3).
public struct TargetURI: Sendable, Hashable {
    /// `https://host[:port]/path`, normalized.
    @Exact public private(set) var text: String

    /// The longest URI that is looked at, in bytes.
    static let limit = 8192

    /// The target of a request whose URI may have a query and a fragment, which are passed over.
    ///
    /// - Returns: nil for text that is not an `https` or `http` URI, and for a URI with a user name.
    public init?(ofRequest uri: String) {
        self.init(uri.utf8, allowsQuery: true)
    }

    /// The target that a proof names in `htu`, which has neither query nor fragment.
    init?(claim uri: String) {
        self.init(uri.utf8, allowsQuery: false)
    }

    private init?(_ uri: String.UTF8View, allowsQuery: Bool) {
        guard uri.count <= TargetURI.limit, uri.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        let whole = Array(uri)
        let bytes = whole.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard allowsQuery || bytes.count == whole.count else { return nil }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return nil
        }
        let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercasedASCII
        let ports: [ExactText: String] = ["https": "443", "http": "80"]
        guard let standardPort = ports[scheme] else { return nil }
        let rest = bytes[(colon + 3)...]
        let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        guard let authority = TargetURI.authority(rest[..<end], standardPort: standardPort),
            let path = TargetURI.path(rest[end...])
        else { return nil }
        text = "\(scheme)://\(authority)\(path)"
    }

    /// Host and port in lower case, without the scheme's default port.
    private static func authority(_ bytes: ArraySlice<UInt8>, standardPort: String) -> String? {
        guard !bytes.contains(UInt8(ascii: "@")), !bytes.contains(UInt8(ascii: "%")) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self).lowercasedASCII
        let host: Substring
        if text.starts(withExactly: "[") {
            guard let end = text.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            host = text[...end]
        } else {
            host = text.prefix(upTo: text.firstIndex(ofASCII: ":"))
        }
        let rest = text[host.endIndex...]
        guard !host.isEmpty, rest.isEmpty || rest.starts(withExactly: ":") else { return nil }
        let port = rest.dropFirst()
        guard port.utf8.count <= 5, port.utf8.allSatisfy(\.isASCIIDigit)
        else { return nil }
        return port.isEmpty || port.isExactly(standardPort) ? String(host) : "\(host):\(port)"
    }

    /// A path without dot segments, and with escapes only where they are needed; nil for a broken escape.
    private static func path(_ bytes: ArraySlice<UInt8>) -> String? {
        var output: [UInt8] = []
        let isWhole = PercentCoding.decode(bytes) { byte, isEscaped in
            if isEscaped, !isUnreserved(byte) {
                output += PercentCoding.encode(byte)
            } else {
                output.append(byte)
            }
            return true
        }
        guard isWhole else { return nil }
        return withoutDotSegments(String(decoding: output, as: UTF8.self))
    }

    /// RFC 3986, section 5.2.4, for a path that begins with a slash or is empty.
    private static func withoutDotSegments(_ path: String) -> String {
        var segments: [Substring] = []
        let parts = path.dropFirst().split(onASCII: "/")
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            let isParent = part.isExactly("..")
            guard isParent || part.isExactly(".") else {
                segments.append(part)
                continue
            }
            if isParent { _ = segments.popLast() }
            if isLast { segments.append("") }
        }
        return "/" + segments.joined(separator: "/")
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || "-._~".utf8.contains(byte)
    }
}
