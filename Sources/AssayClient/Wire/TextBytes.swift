// Text from outside is compared by its bytes: `==` of String normalises Unicode.

extension StringProtocol {
    /// Whether two texts have the same UTF-8 bytes.
    func sameBytes(as other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8)
    }

    /// Whether a text begins with the bytes of another.
    func begins(with prefix: some StringProtocol) -> Bool {
        utf8.starts(with: prefix.utf8)
    }

    /// A copy with the capital letters of ASCII in lower case.
    var loweredASCII: String {
        String(decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

extension UInt8 {
    /// Whether it is an ASCII digit.
    var isDecimal: Bool { (0x30...0x39).contains(self) }
    /// Whether it is a letter or digit of ASCII.
    var isAlphanumeric: Bool { isDecimal || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }

    /// The value of a hexadecimal digit.
    var hexValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }
}

/// Text of a server as it may be shown to people: bounded, and without what moves a terminal's cursor.
enum ShownText {
    static func of(_ text: String, limit: Int = 300) -> String {
        let scalars = text.unicodeScalars.prefix(limit).map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: "?"
            default: scalar
            }
        }
        var shown = String.UnicodeScalarView()
        shown.append(contentsOf: scalars)
        return String(shown)
    }
}

/// Hexadecimal digits.
enum HexText {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The escapes of a URL's path (RFC 3986, section 2.1).
enum PathSegment {
    /// A segment in which only unreserved characters stay as they are.
    static func encode(_ segment: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        for byte in segment.utf8 {
            if byte.isAlphanumeric || "-._~".utf8.contains(byte) {
                text.append(byte)
            } else {
                text += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
