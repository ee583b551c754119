public import AssayCore

/// The web pages whose scripts may call methods and read the replies (CORS), by their origins.
///
/// It affects only methods that demand no permission. Other methods, and pages for operators, are never open to scripts
/// of other origins; and a browser's own credentials are never accepted, so that a page learns no more than any other
/// client.
@nonexhaustive public enum AllowedOrigins: Sendable, Hashable {
    /// Pages of any origin, as with Google's service.
    case any
    /// Pages of exactly these origins, each as browsers send it: `https://app.example.com`. None when empty.
    case only(Set<ExactText>)

    /// No page of any other origin.
    public static let none = AllowedOrigins.only([])

    /// Whether a text has the form of an origin that browsers send (RFC 6454, section 6.2): a scheme, a host in lower
    /// case, and a port if it is not the scheme's default.
    public static func isOrigin(_ text: String) -> Bool {
        guard text.utf8.count <= 255, let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")),
            text.utf8[colon...].starts(with: "://".utf8)
        else { return false }
        let scheme = text[..<colon].utf8
        var host = text.utf8[colon...].dropFirst(3)
        guard let first = scheme.first, first.isASCIILowercase,
            scheme.allSatisfy({ $0.isASCIILowercase || $0.isASCIIDigit || "+-.".utf8.contains($0) })
        else { return false }
        if let colon = host.lastIndex(of: UInt8(ascii: ":")), host.last != UInt8(ascii: "]") {
            let port = host[colon...].dropFirst()
            guard port.count <= 5, port.allSatisfy(\.isASCIIDigit), port.first != UInt8(ascii: "0"),
                let number = UInt16(String(decoding: port, as: UTF8.self)),
                number != defaultPort(ofScheme: String(decoding: scheme, as: UTF8.self))
            else { return false }
            host = host[..<colon]
        }
        if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") {
            return host.count > 2 && host.dropFirst().dropLast().allSatisfy { isHex($0) || $0 == UInt8(ascii: ":") }
        }
        return !host.isEmpty
            && host.allSatisfy { $0.isASCIILowercase || $0.isASCIIDigit || "-.".utf8.contains($0) }
    }

    /// The port that browsers leave out.
    private static func defaultPort(ofScheme scheme: String) -> UInt16? {
        if scheme.isExactly("https") { 443 } else if scheme.isExactly("http") { 80 } else { nil }
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        byte.hexDigitValue != nil && !byte.isASCIIUppercase
    }
}
