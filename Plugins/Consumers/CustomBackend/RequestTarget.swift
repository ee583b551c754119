internal import AssayCore

/// What a client asked a backend for, read so that the backend cannot read it otherwise.
enum RequestTarget: Sendable, Equatable {
    /// A method in capitals, and a path with its escapes decoded.
    case clear(method: String, path: [UInt8])
    /// Backends read the path in several ways: as another one, or not at all.
    case ambiguous

    static func == (left: RequestTarget, right: RequestTarget) -> Bool {
        switch (left, right) {
        case (.clear(let left, let leftPath), .clear(let right, let rightPath)):
            left.isExactly(right) && leftPath == rightPath
        case (.ambiguous, .ambiguous): true
        default: false
        }
    }

    private static let longest = 8192

    /// - Parameter uri: a path with or without a query.
    init(_ method: String, _ uri: String) {
        guard RequestTarget.isMethod(method), uri.utf8.count <= RequestTarget.longest,
            let path = RequestTarget.path(uri), RequestTarget.isPlain(path)
        else {
            self = .ambiguous
            return
        }
        self = .clear(method: method.uppercasedASCII, path: path)
    }

    /// Whether a name is a method (RFC 9110, section 9.1): few characters, all of them ASCII.
    static func isMethod(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-_".utf8.contains($0) }
    }

    /// The path with its escapes decoded; nil if a separator or a control character is escaped, or if it has an
    /// unescaped character that only some servers accept.
    private static func path(_ uri: String) -> [UInt8]? {
        guard uri.utf8.first == UInt8(ascii: "/") else { return nil }
        var path: [UInt8] = []
        path.reserveCapacity(uri.utf8.count)
        let isPlain = PercentCoding.decode(uri.utf8.prefix { $0 != UInt8(ascii: "?") }) { byte, isEscaped in
            if isEscaped {
                // These are separators for some servers and letters for others. A decoded `%` would be decoded twice.
                guard byte > 0x20, byte != 0x7F, !"/\\%;?#".utf8.contains(byte) else { return false }
            } else {
                switch byte {
                // Some cut a path at a semicolon or a `#`, and some take a backslash for a slash.
                case 0...0x20, 0x7F..., UInt8(ascii: "\\"), UInt8(ascii: ";"), UInt8(ascii: "#"): return false
                default: break
                }
            }
            path.append(byte)
            return true
        }
        guard isPlain else { return nil }
        return path
    }

    /// Whether a decoded path is valid UTF-8 and has neither dot segments nor empty ones, which only some servers
    /// remove.
    ///
    /// An empty last segment is a slash at the end.
    private static func isPlain(_ path: [UInt8]) -> Bool {
        // Servers decode invalid UTF-8, such as an overlong form of a dot, in different ways.
        if path.contains(where: { $0 >= 0x80 }), String(validating: path, as: UTF8.self).isNil { return false }
        let segments = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return segments.enumerated().allSatisfy { index, segment in
            segment.isEmpty ? index == segments.count - 1 : !(segment.count <= 2 && segment.allSatisfy(isDot))
        }
    }

    private static func isDot(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ".") }

    /// Whether a backend may confuse a decoded path with another one that has other bytes: it may fold compatibility
    /// forms and accents of Unicode (`ｂ`, `K` the sign of Kelvin), and accept other names of a file as Windows does
    /// (`a.`, `a::$DATA`, `PROGRA~1`, wildcards).
    ///
    /// Letter case and a slash at the end are ``RoutePath``'s to judge.
    static func hasOtherSpellings(_ path: [UInt8]) -> Bool {
        var previous = UInt8(ascii: "/")
        for byte in path {
            switch (previous, byte) {
            case (_, 0x80...), (UInt8(ascii: "."), UInt8(ascii: "/")), (UInt8(ascii: ":"), UInt8(ascii: ":")),
                (UInt8(ascii: ":"), UInt8(ascii: "$")), (UInt8(ascii: "~"), UInt8(ascii: "0")...UInt8(ascii: "9")),
                (_, UInt8(ascii: "<")), (_, UInt8(ascii: ">")), (_, UInt8(ascii: "\"")), (_, UInt8(ascii: "|")):
                return true
            default: previous = byte
            }
        }
        return isDot(previous)
    }
}
