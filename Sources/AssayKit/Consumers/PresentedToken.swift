/// What a request shows as its App Check token.
public enum PresentedToken: Sendable, Equatable {
    /// What stands in the one place that it may stand in; not verified.
    case one(String)
    /// There are several, of which a reader behind this one might take another.
    case several
    /// It stands in a URL, where logs and histories keep it.
    case inURL

    public static func == (left: PresentedToken, right: PresentedToken) -> Bool {
        switch (left, right) {
        case (.one(let left), .one(let right)): left.isExactly(right)
        case (.several, .several), (.inURL, .inURL): true
        default: false
        }
    }

    /// - Parameters:
    ///   - values: those of the header `X-Firebase-AppCheck`.
    ///   - targets: URLs or paths that the client sent, in whose queries no token may stand.
    /// - Returns: nil when there is no token at all.
    public init?(_ values: [String], targets: [String] = []) {
        if targets.contains(where: PresentedToken.isInQuery) {
            self = .inURL
        } else if values.count > 1 {
            self = .several
        } else if let value = values.first, !value.isEmpty {
            self = .one(value)
        } else {
            return nil
        }
    }

    /// The names of parameters that carry a token, in lower case and without `-` and `_`.
    private static let names: Set<ExactText> = ["xfirebaseappcheck", "firebaseappcheck", "appcheck", "appchecktoken"]

    /// Whether a query has a parameter that is named like a token.
    static func isInQuery(_ target: String) -> Bool {
        let query = target.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        return query.split(whereSeparator: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") }).contains { part in
            var name: [UInt8] = []
            var rest = part.prefix { $0 != UInt8(ascii: "=") }
            while let byte = rest.popFirst() {
                guard name.count <= 32 else { return false }
                switch byte {
                case UInt8(ascii: "-"), UInt8(ascii: "_"): continue
                case UInt8(ascii: "%"):
                    guard let high = rest.popFirst(), let low = rest.popFirst(),
                        let decoded = Hex.decode(String(decoding: [high, low], as: UTF8.self))?.first
                    else { return false }
                    if decoded != UInt8(ascii: "-"), decoded != UInt8(ascii: "_") { name.append(decoded) }
                default: name.append(byte)
                }
            }
            return names.contains(ExactText(String(decoding: name, as: UTF8.self).lowercasedASCII))
        }
    }
}
