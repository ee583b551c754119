extension Instant {
    /// An instant from RFC 3339 text such as `2026-10-08T07:25:21.624Z` or `2026-10-08T09:25:21+02:00`.
    ///
    /// Returns nil for any other text: local times, dates without a time, leap seconds, more than nine fractional
    /// digits. Digits beyond milliseconds are dropped.
    public init?(rfc3339 text: some StringProtocol) {
        var reader = DigitReader(Array(text.utf8))
        guard text.utf8.count <= 40,
            let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
            let day = reader.number(2), reader.skip("T") || reader.skip("t"),
            let hour = reader.number(2), reader.skip(":"), let minute = reader.number(2), reader.skip(":"),
            let second = reader.number(2),
            (1...12).contains(month), hour <= 23, minute <= 59, second <= 59,
            day >= 1, day <= CivilDate.daysIn(month: month, year: year)
        else { return nil }
        guard let fraction = reader.fractionInMilliseconds(), let offset = reader.offsetInMinutes(), reader.isAtEnd
        else { return nil }
        let date = CivilDate(year: year, month: month, day: day)
        let seconds = date.daysSinceEpoch * 86_400 + Int64(hour * 3600 + minute * 60 + second) - Int64(offset) * 60
        self.init(milliseconds: seconds * 1000 + Int64(fraction))
    }

    /// An instant from the parts of a UTC date, as ASN.1 times contain them; nil when the date does not exist.
    public init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard (0...9999).contains(year), (1...12).contains(month), day >= 1,
            day <= CivilDate.daysIn(month: month, year: year),
            (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second)
        else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSinceEpoch
        self.init(seconds: days * 86_400 + Int64(hour * 3600 + minute * 60 + second))
    }
}

extension Instant: CustomStringConvertible {
    /// RFC 3339 in UTC; milliseconds are written only when there are any.
    public var description: String {
        let date = CivilDate(of: self)
        let inDay = Int(seconds - date.daysSinceEpoch * 86_400)
        let fraction = Int((milliseconds % 1000 + 1000) % 1000)
        let head = "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
        let time = "\(padded(inDay / 3600, 2)):\(padded(inDay / 60 % 60, 2)):\(padded(inDay % 60, 2))"
        return "\(head)T\(time)\(fraction == 0 ? "" : ".\(padded(fraction, 3))")Z"
    }

    private func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

extension Instant: Codable {
    /// Reads RFC 3339 text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let instant = Instant(rfc3339: text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "not a time: write it as 2026-12-31T23:59:59Z (RFC 3339)")
        }
        self = instant
    }

    /// Writes RFC 3339 text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// Reads the fixed-width numbers of a date.
private struct DigitReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    mutating func number(_ width: Int) -> Int? {
        guard bytes.count - position >= width else { return nil }
        var value = 0
        for _ in 0..<width {
            guard let digit = nextDigit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// The fraction after a dot, of one to nine digits; 0 without a dot, nil when it is malformed.
    mutating func fractionInMilliseconds() -> Int? {
        guard skip(".") else { return 0 }
        var value = 0
        var digits = 0
        while let digit = nextDigit() {
            digits += 1
            if digits <= 3 { value = value * 10 + digit }
        }
        guard (1...9).contains(digits) else { return nil }
        for _ in digits..<max(digits, 3) { value *= 10 }
        return value
    }

    mutating func offsetInMinutes() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let sign = skip("-") ? -1 : 1
        guard sign == -1 || skip("+"), let hours = number(2), skip(":"), let minutes = number(2), hours <= 23,
            minutes <= 59
        else { return nil }
        return sign * (hours * 60 + minutes)
    }

    private mutating func nextDigit() -> Int? {
        guard position < bytes.count, bytes[position].isASCIIDigit else {
            return nil
        }
        position += 1
        return Int(bytes[position - 1] - UInt8(ascii: "0"))
    }
}
