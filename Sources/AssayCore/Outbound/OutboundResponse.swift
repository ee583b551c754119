/// What another server answered.
public struct OutboundResponse: Sendable, Hashable {
    /// The status code (RFC 9110, section 15).
    public var status: Int
    /// The header fields, in the order in which they were received.
    public var headers: [OutboundHeader]
    /// The bytes of the body, complete.
    public var body: [UInt8]

    /// Makes a response.
    public init(status: Int, headers: [OutboundHeader] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The value of the first header with a name, in any letter case.
    public func header(_ name: String) -> String? {
        headers.value(of: name)
    }

    /// How long the server asks clients to wait (`Retry-After`, RFC 9110, section 10.2.3): seconds, or until a date;
    /// nil when the header is missing or cannot be read.
    public func retryAfter(at now: Instant) -> Duration? {
        guard let value = header("retry-after") else { return nil }
        if !value.isEmpty, value.utf8.allSatisfy(\.isASCIIDigit) {
            return .seconds(min(Int64(value) ?? .max, 1_000_000_000))
        }
        guard let date = Instant(httpDate: value) else { return nil }
        return max(date - now, .zero)
    }
}

extension Instant {
    /// An instant in the form that HTTP prefers (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
    init?(httpDate text: String) {
        let parts = text.split(onASCII: " ", maxSplits: 6)
        guard parts.count == 6, parts[0].utf8.count == 4, parts[0].ends(withExactly: ","), parts[5].isExactly("GMT"),
            let month = Self.months.firstIndex(where: { $0.isExactly(parts[2]) }), parts[1].utf8.count == 2,
            parts[3].utf8.count == 4
        else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        self.init(rfc3339: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
