#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

extension String {
    /// Whether both texts have the same UTF-8 bytes.
    ///
    /// It costs one look where their lengths differ.
    ///
    /// `==` of `String` is not for text from outside: see ``ExactText``.
    public func isExactly(_ other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        return compareBytes(other) == 0
    }

    /// Whether the text's UTF-8 bytes come before those of another.
    public func precedesExactly(_ other: String) -> Bool {
        let order = compareBytes(other)
        return order == 0 ? utf8.count < other.utf8.count : order < 0
    }

    /// The order of as many bytes as both texts have: below, above or 0.
    private func compareBytes(_ other: String) -> Int {
        let count = min(utf8.count, other.utf8.count)
        // Text of this platform's own is one run of bytes; a bridged one is made so.
        var (mine, theirs) = (self, other)
        return mine.withUTF8 { mine in
            theirs.withUTF8 { theirs in
                guard count > 0, let mine = mine.baseAddress, let theirs = theirs.baseAddress else { return 0 }
                return Int(memcmp(mine, theirs, count))
            }
        }
    }
}

extension StringProtocol {
    /// Whether both texts have the same UTF-8 bytes.
    ///
    /// It costs one look where their lengths differ.
    @inlinable
    public func isExactly(_ other: some StringProtocol) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }

    /// Whether the text's first UTF-8 bytes are those of another.
    @inlinable
    public func starts(withExactly prefix: some StringProtocol) -> Bool {
        utf8.starts(with: prefix.utf8)
    }

    /// Whether the text's last UTF-8 bytes are those of another.
    @inlinable
    public func ends(withExactly suffix: some StringProtocol) -> Bool {
        utf8.count >= suffix.utf8.count && utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// Whether the text's UTF-8 bytes come before those of another.
    @inlinable
    public func precedesExactly(_ other: some StringProtocol) -> Bool {
        utf8.lexicographicallyPrecedes(other.utf8)
    }

    /// Whether all of the text is ASCII.
    @inlinable
    public var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }

    /// The text with ASCII letters in lower case; the rest stays as it is.
    @inlinable
    public var lowercasedASCII: String {
        mapASCII { $0.lowercasedASCII }
    }

    /// The text with ASCII letters in upper case; the rest stays as it is.
    @inlinable
    public var uppercasedASCII: String {
        mapASCII { $0.uppercasedASCII }
    }

    /// Whether both texts have the same UTF-8 bytes when ASCII letters count as one in upper and lower case.
    @inlinable
    public func isExactlyIgnoringASCIICase(_ other: some StringProtocol) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { $0.lowercasedASCII == $1.lowercasedASCII }
    }

    @inlinable
    func mapASCII(_ transform: (UInt8) -> UInt8) -> String {
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
    /// - `maxSplits`: how many occurrences may divide the text; the ones after them stay in the last part.
    @inlinable
    public func split(onASCII separator: Unicode.Scalar, maxSplits: Int = .max) -> [Substring] {
        utf8.split(separator: UInt8(ascii: separator), maxSplits: maxSplits, omittingEmptySubsequences: false)
            .map { self[$0.startIndex..<$0.endIndex] }
    }
}

extension StringProtocol where SubSequence == Substring {
    /// The index of the first of some ASCII characters; nil when the text has none of them.
    @inlinable
    public func firstIndex(ofASCII characters: Unicode.Scalar...) -> Index? {
        let bytes = characters.map { UInt8(ascii: $0) }
        return utf8.firstIndex { bytes.contains($0) }
    }

    /// The text before an index; the whole text without one.
    @inlinable
    public func prefix(upTo index: Index?) -> Substring {
        self[startIndex..<(index ?? endIndex)]
    }
}

extension BidirectionalCollection<UInt8> {
    /// The bytes without the white space of HTTP (spaces and tabs) around them, which belongs to no value of a header
    /// (RFC 9112, section 5.1).
    @inlinable
    public var trimmedASCII: SubSequence {
        let kept =
            withContiguousStorageIfAvailable(rangeWithoutSpaces)
            ?? Array(self).withUnsafeBufferPointer(rangeWithoutSpaces)
        let start = index(startIndex, offsetBy: kept.lowerBound)
        return self[start..<index(start, offsetBy: kept.count)]
    }
}

/// The positions of the bytes without the spaces and tabs around them.
@usableFromInline
func rangeWithoutSpaces(_ bytes: UnsafeBufferPointer<UInt8>) -> Range<Int> {
    var (start, end) = (0, bytes.count)
    while start < end, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
    while start < end, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
    return start..<end
}

extension StringProtocol where SubSequence == Substring, UTF8View: BidirectionalCollection {
    /// The text without the white space of HTTP (spaces and tabs) around it.
    @inlinable
    public var trimmedASCII: Substring {
        let bytes = utf8.trimmedASCII
        return self[bytes.startIndex..<bytes.endIndex]
    }
}

extension Sequence<String> {
    /// Whether one of the texts has the same UTF-8 bytes as another.
    @inlinable
    public func contains(exactly text: String) -> Bool {
        contains { $0.isExactly(text) }
    }
}

extension Sequence where Element: StringProtocol {
    /// Whether one of the texts has the same UTF-8 bytes as another.
    @inlinable
    public func contains(exactly text: some StringProtocol) -> Bool {
        contains { $0.isExactly(text) }
    }
}

extension CaseIterable where Self: RawRepresentable, RawValue == String {
    /// The case whose raw value has the same UTF-8 bytes as a text; nil for other texts.
    @inlinable
    public init?(exactly text: some StringProtocol) {
        guard let found = Self.allCases.first(where: { $0.rawValue.isExactly(text) }) else { return nil }
        self = found
    }
}

extension Sequence<String> {
    /// The texts in the order of their UTF-8 bytes.
    public func sortedExactly() -> [String] {
        sorted { $0.precedesExactly($1) }
    }
}

extension String? {
    /// Whether the text is nil.
    ///
    /// `== nil` would do, and would look to the check of comparisons like one of texts.
    @inlinable
    public var isNil: Bool {
        if case .none = self { true } else { false }
    }
}
