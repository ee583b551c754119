/// The App Check token of a request, before verification.
@nonexhaustive public enum PresentedToken: Sendable, Equatable {
    /// The value of the header for tokens; not verified.
    case one(String)
    /// The request has several tokens, and a later reader might use another one.
    case several
    /// The token is in the URL, where logs and histories keep it.
    case inURL

    /// Compares tokens by their UTF-8 bytes.
    public static func == (left: PresentedToken, right: PresentedToken) -> Bool {
        switch (left, right) {
        case (.one(let left), .one(let right)): left.isExactly(right)
        case (.several, .several), (.inURL, .inURL): true
        default: false
        }
    }

    /// - Parameters:
    ///   - values: those of the header `X-Firebase-AppCheck`.
    ///   - targets: URLs or paths that the client sent, whose queries must not contain a token.
    /// - Returns: nil when the request has no token.
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
            let isWhole = PercentCoding.decode(part.prefix { $0 != UInt8(ascii: "=") }) { byte, _ in
                guard name.count <= 32 else { return false }
                if byte != UInt8(ascii: "-"), byte != UInt8(ascii: "_") { name.append(byte) }
                return true
            }
            guard isWhole else { return false }
            return names.contains(ExactText(String(decoding: name, as: UTF8.self).lowercasedASCII))
        }
    }
}
