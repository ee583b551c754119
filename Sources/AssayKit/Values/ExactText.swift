/// Text that is compared, ordered and hashed by its UTF-8 bytes, in linear time.
///
/// `String` compares by canonical equivalence: different spellings are equal, and a hostile run of combining marks costs
/// quadratic time. Whatever came from outside is looked up and compared as this type, or by ``Swift/String/isExactly(_:)``;
/// RFC 7515, section 5.3, forbids normalization for the members of a JOSE header, and RFC 8259, section 8.3, compares names
/// by code units.
public struct ExactText: Sendable, Hashable, Comparable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The same text, which compares in Swift's way.
    public let string: String

    public init(_ string: String) {
        self.string = string
    }

    public init(_ string: Substring) {
        self.string = String(string)
    }

    public init(stringLiteral value: String) {
        string = value
    }

    public var description: String { string }

    public static func == (left: ExactText, right: ExactText) -> Bool {
        left.string.isExactly(right.string)
    }

    public static func < (left: ExactText, right: ExactText) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        var text = string
        text.withUTF8 { bytes in
            hasher.combine(bytes.count)
            hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
    }
}

extension ExactText: Codable {
    public init(from decoder: any Decoder) throws {
        string = try decoder.singleValueContainer().decode(String.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }
}

extension StringProtocol {
    /// Whether both texts have the same UTF-8 bytes. It costs one look where their lengths differ.
    public func isExactly(_ other: some StringProtocol) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }

    /// Whether the text's first UTF-8 bytes are those of another.
    public func starts(withExactly prefix: some StringProtocol) -> Bool {
        utf8.starts(with: prefix.utf8)
    }

    /// Whether the text's last UTF-8 bytes are those of another.
    public func ends(withExactly suffix: some StringProtocol) -> Bool {
        utf8.count >= suffix.utf8.count && utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// Whether all of the text is ASCII.
    public var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }

    /// The text with ASCII letters in lower case; all else stays as it is.
    public var lowercasedASCII: String {
        mapASCII { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }

    /// The text with ASCII letters in upper case; all else stays as it is.
    public var uppercasedASCII: String {
        mapASCII { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 & 0xDF : $0 }
    }

    /// Whether both texts have the same UTF-8 bytes when ASCII letters count as one in upper and lower case.
    public func isExactlyIgnoringASCIICase(_ other: some StringProtocol) -> Bool {
        let fold = { (byte: UInt8) in (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte }
        return utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy { fold($0) == fold($1) }
    }

    private func mapASCII(_ transform: (UInt8) -> UInt8) -> String {
        String(unsafeUninitializedCapacity: utf8.count) { buffer in
            var count = 0
            for byte in utf8 {
                buffer[count] = transform(byte)
                count += 1
            }
            return count
        }
    }
}

extension StringProtocol where SubSequence == Substring {
    /// The parts between the occurrences of an ASCII character, empty ones included.
    ///
    /// - Parameter maxSplits: the most occurrences that divide the text; further ones stay in the last part.
    public func split(onASCII separator: Unicode.Scalar, maxSplits: Int = .max) -> [Substring] {
        let byte = UInt8(ascii: separator)
        return utf8.split(separator: byte, maxSplits: maxSplits, omittingEmptySubsequences: false).map { part in
            self[part.startIndex..<part.endIndex]
        }
    }
}

extension Sequence where Element: StringProtocol {
    /// Whether one of the texts has the same UTF-8 bytes as another.
    public func contains(exactly text: some StringProtocol) -> Bool {
        contains { $0.isExactly(text) }
    }
}

extension CaseIterable where Self: RawRepresentable, RawValue == String {
    /// The case whose raw value has the same UTF-8 bytes as a text; nil for other texts.
    public init?(exactly text: some StringProtocol) {
        guard let found = Self.allCases.first(where: { $0.rawValue.isExactly(text) }) else { return nil }
        self = found
    }
}
