/// An IP address (RFC 791; RFC 4291).
///
/// An IPv4 address that is mapped into IPv6, `::ffff:192.0.2.1`, is that IPv4 address.
public struct IPAddress: Sendable, Hashable {
    /// The 128 bits of the IPv6 form, most significant first.
    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads the text forms of IPv4 (four decimal numbers without leading zeros) and of IPv6 (RFC 4291, section 2.2).
    ///
    /// Returns nil for any other text, also with a port, brackets, a zone or white space.
    public init?(_ text: some StringProtocol) {
        self.init(utf8: Array(text.utf8.prefix(Self.longest + 1))[...])
    }

    /// The same for the bytes of the text.
    public init?(utf8 text: ArraySlice<UInt8>) {
        guard text.count <= Self.longest else { return nil }
        if text.contains(UInt8(ascii: ":")) {
            guard let groups = Self.groups(text) else { return nil }
            func half(_ range: Range<Int>) -> UInt64 { groups[range].reduce(0) { $0 << 16 | UInt64($1) } }
            self.init(high: half(0..<4), low: half(4..<8))
        } else {
            guard let number = Self.ipv4(text) else { return nil }
            self.init(high: 0, low: Self.mapped << 32 | UInt64(number))
        }
    }

    /// Whether the address is an IPv4 address.
    public var isIPv4: Bool { high == 0 && low >> 32 == Self.mapped }

    private static let mapped: UInt64 = 0xFFFF
    /// The length of the longest text, `0000:0000:0000:0000:0000:ffff:255.255.255.255`.
    private static let longest = 45

    private static func ipv4(_ text: ArraySlice<UInt8>) -> UInt32? {
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var number: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.count), part.count == 1 || part.first != UInt8(ascii: "0") else { return nil }
            var value: UInt32 = 0
            for digit in part {
                guard digit.isASCIIDigit else { return nil }
                value = value * 10 + UInt32(digit - UInt8(ascii: "0"))
            }
            guard value <= 255 else { return nil }
            number = number << 8 | value
        }
        return number
    }

    /// The eight groups of an IPv6 address, where `::` occurs at most once and replaces at least one group.
    private static func groups(_ text: ArraySlice<UInt8>) -> [UInt16]? {
        let colon = UInt8(ascii: ":")
        var gap: ArraySlice<UInt8>.Index?
        for index in text.indices.dropLast() where text[index] == colon && text[index + 1] == colon {
            // In `:::`, the second pair is not a gap either.
            guard gap == nil else { return nil }
            gap = index
        }
        guard let gap else {
            let all = fields(text)
            return all?.count == 8 ? all : nil
        }
        guard let front = gap == text.startIndex ? [] : fields(text[..<gap], endsAddress: false),
            let back = gap + 2 == text.endIndex ? [] : fields(text[(gap + 2)...]), front.count + back.count < 8
        else { return nil }
        return front + Array(repeating: 0, count: 8 - front.count - back.count) + back
    }

    /// Groups between colons, of which the last of an address may be an IPv4 address for two.
    private static func fields(_ text: ArraySlice<UInt8>, endsAddress: Bool = true) -> [UInt16]? {
        let parts = text.split(separator: UInt8(ascii: ":"), maxSplits: 8, omittingEmptySubsequences: false)
        var groups: [UInt16] = []
        for (index, part) in parts.enumerated() {
            if endsAddress, index == parts.count - 1, part.contains(UInt8(ascii: ".")) {
                guard let number = ipv4(part) else { return nil }
                groups += [UInt16(truncatingIfNeeded: number >> 16), UInt16(truncatingIfNeeded: number)]
            } else {
                guard (1...4).contains(part.count) else { return nil }
                var group: UInt16 = 0
                for byte in part {
                    guard let digit = byte.hexDigitValue else { return nil }
                    group = group << 4 | UInt16(digit)
                }
                groups.append(group)
            }
        }
        return groups.count <= 8 ? groups : nil
    }
}

extension IPAddress: CustomStringConvertible {
    /// The one form of RFC 5952, section 4.
    public var description: String {
        if isIPv4 { return (0..<4).reversed().map { "\(low >> UInt64(8 * $0) & 0xFF)" }.joined(separator: ".") }
        let groups = [high, low].flatMap { half in (0..<4).reversed().map { half >> UInt64(16 * $0) & 0xFFFF } }
        var gap = 0..<0
        var start = 0
        while start < 8 {
            let end = groups[start...].firstIndex { $0 != 0 } ?? 8
            if end - start > max(gap.count, 1) { gap = start..<end }
            start = end + 1
        }
        let text = { (part: ArraySlice<UInt64>) in part.map { String($0, radix: 16) }.joined(separator: ":") }
        if gap.isEmpty { return text(groups[...]) }
        return "\(text(groups[..<gap.lowerBound]))::\(text(groups[gap.upperBound...]))"
    }
}

/// The addresses with the same leading bits (RFC 4632, section 3.1): `192.0.2.0/24`, `2001:db8::/32`.
public struct IPRange: Sendable, Hashable, CustomStringConvertible {
    /// The range in CIDR notation.
    @Exact public private(set) var description: String
    private let first: IPAddress
    private let mask: IPAddress

    /// Reads a single address, or a range: an address, a slash and the number of bits that count.
    ///
    /// Further bits may be set.
    public init?(_ text: some StringProtocol) {
        let parts = text.utf8.prefix(64).split(
            separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        guard text.utf8.count <= 64, let address = parts.first.flatMap({ IPAddress(utf8: Array($0)[...]) }) else {
            return nil
        }
        let width = address.isIPv4 ? 32 : 128
        var bits = width
        if parts.count == 2 {
            let digits = parts[1]
            guard (1...3).contains(digits.count),
                digits.allSatisfy(\.isASCIIDigit),
                let number = Int(String(decoding: digits, as: UTF8.self)), number <= width
            else { return nil }
            bits = number
        }
        description = "\(text)"
        let inAll = bits + 128 - width
        mask = IPAddress(high: Self.ones(min(inAll, 64)), low: Self.ones(max(inAll - 64, 0)))
        first = IPAddress(high: address.high & mask.high, low: address.low & mask.low)
    }

    /// Whether the range contains an address.
    public func contains(_ address: IPAddress) -> Bool {
        address.high & mask.high == first.high && address.low & mask.low == first.low
    }

    /// Whether it is all addresses of a family.
    public var isEverything: Bool { mask.high == 0 && mask.low == 0 || first.isIPv4 && mask.low == Self.ones(32) }

    /// As many ones from the left.
    private static func ones(_ count: Int) -> UInt64 { count == 0 ? 0 : ~0 << UInt64(64 - count) }
}
