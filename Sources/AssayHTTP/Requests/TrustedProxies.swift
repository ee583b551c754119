public import AssayCore

/// The proxies that name their client: it is the last address of `X-Forwarded-For` that is not a trusted proxy's.
///
/// A proxy appends the address that it received a request from. Everything to the left of the first untrusted address
/// was written by an untrusted party, and is ignored. `Forwarded` (RFC 7239) is not read: if a proxy does not set it,
/// it comes from the client.
public struct TrustedProxies: Sendable {
    /// No more proxies than this are followed.
    private static let hops = 16

    private let ranges: [IPRange]
    private let includesSockets: Bool

    /// No proxy is trusted.
    public static let none = TrustedProxies([])

    /// - Parameters:
    ///   - ranges: the addresses of proxies.
    ///   - includesSockets: whether peers without an address are trusted: all that the file mode of a Unix socket lets
    ///     connect.
    public init(_ ranges: [IPRange], includesSockets: Bool = false) {
        self.ranges = ranges
        self.includesSockets = includesSockets
    }

    /// Whether the header of a peer is trusted.
    func trust(_ peer: String?) -> Bool {
        guard let peer else { return includesSockets }
        guard !ranges.isEmpty, let address = IPAddress(peer) else { return false }
        return trust(address)
    }

    private func trust(_ address: IPAddress) -> Bool {
        ranges.contains { $0.contains(address) }
    }

    /// The client's address.
    ///
    /// - Parameters:
    ///   - peer: a trusted proxy's address: the result if the header is missing, or ends with something that is not an
    ///     address.
    ///   - headers: the headers of the request.
    func client(_ headers: HeaderFields?, behind peer: String?) -> String? {
        guard let lines = headers?["x-forwarded-for"], !lines.isEmpty else { return peer }
        var found = peer
        var hops = 0
        for line in lines.reversed() {
            var rest = Array(line.utf8)[...]
            while true {
                let comma = rest.lastIndex(of: UInt8(ascii: ","))
                let part = comma.map { rest[($0 + 1)...] } ?? rest
                hops += 1
                guard hops <= Self.hops, let address = Self.address(part) else { return found }
                found = address.description
                guard trust(address) else { return found }
                guard let comma else { break }
                rest = rest[..<comma]
            }
        }
        return found
    }

    /// An address with white space around it; some proxies add a port, and brackets with IPv6.
    private static func address(_ text: ArraySlice<UInt8>) -> IPAddress? {
        let text = text.trimmedASCII
        if text.first == UInt8(ascii: "[") {
            guard let end = text.firstIndex(of: UInt8(ascii: "]")), isPort(text[(end + 1)...]) else { return nil }
            return IPAddress(utf8: text[(text.startIndex + 1)..<end])
        }
        if let address = IPAddress(utf8: text) { return address }
        guard let colon = text.lastIndex(of: UInt8(ascii: ":")), isPort(text[colon...]) else { return nil }
        // The rest must be IPv4: the end of an IPv6 address is not a port.
        return IPAddress(utf8: text[..<colon]).flatMap { text[..<colon].contains(UInt8(ascii: ":")) ? nil : $0 }
    }

    /// Nothing, or a colon and up to five digits.
    private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
        guard let first = text.first else { return true }
        let digits = text.dropFirst()
        return first == UInt8(ascii: ":") && (1...5).contains(digits.count)
            && digits.allSatisfy(\.isASCIIDigit)
    }
}
