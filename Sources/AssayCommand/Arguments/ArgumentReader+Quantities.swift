internal import AssayCore
internal import AssayYAML

extension ArgumentReader<Int> {
    /// A whole number within a range.
    static func number(_ range: ClosedRange<Int>) -> Self {
        ArgumentReader(
            accepted: "a number from \(range.lowerBound) to \(range.upperBound)",
            bounds: "\(range.lowerBound) to \(range.upperBound)"
        ) { text throws(ArgumentCause) in
            let isNegative = text.utf8.first == UInt8(ascii: "-")
            let digits = text.utf8.dropFirst(isNegative ? 1 : 0)
            guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else { throw "not a whole number" }
            guard let number = Int(text) else { throw isNegative ? "too small" : "too large" }
            guard number >= range.lowerBound else { throw "too small" }
            guard number <= range.upperBound else { throw "too large" }
            return number
        }
    }

    /// One of a few whole numbers.
    static func number(among numbers: [Int]) -> Self {
        let words = numbers.map(String.init).joined(separator: " or ")
        return ArgumentReader(accepted: words) { text throws(ArgumentCause) in
            guard let number = Int(text), numbers.contains(number) else { throw "not supported" }
            return number
        }
    }
}

/// A number of bytes, such as `256M`: with K, M or G for 1024 and its powers, or without.
struct ByteQuantity: Sendable {
    let bytes: Int

    fileprivate static let units: [(letter: UInt8, bytes: Int)] = [
        (UInt8(ascii: "G"), 1 << 30), (UInt8(ascii: "M"), 1 << 20), (UInt8(ascii: "K"), 1 << 10),
    ]

    /// The number as options take it.
    var text: String {
        for unit in Self.units where bytes > 0 && bytes % unit.bytes == 0 {
            return "\(bytes / unit.bytes)\(String(decoding: [unit.letter], as: UTF8.self))"
        }
        return "\(bytes)"
    }
}

extension ArgumentReader<ByteQuantity> {
    /// A number of bytes within a range.
    static func size(_ range: ClosedRange<Int>) -> Self {
        let bounds = "\(ByteQuantity(bytes: range.lowerBound).text) to \(ByteQuantity(bytes: range.upperBound).text)"
        return ArgumentReader(
            accepted: "a number of bytes from \(bounds), with K, M or G for 1024 and its powers", bounds: bounds,
            text: \.text
        ) { text throws(ArgumentCause) in
            let unit = ByteQuantity.units.first { $0.letter == text.utf8.last }
            let digits = text.utf8.dropLast(unit == nil ? 0 : 1)
            if digits.first == UInt8(ascii: "-") { throw "too small" }
            guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else { throw "not a number of bytes" }
            guard let number = Int(Substring(digits)) else { throw "too large" }
            let (bytes, overflow) = number.multipliedReportingOverflow(by: unit?.bytes ?? 1)
            guard !overflow, bytes <= range.upperBound else { throw "too large" }
            guard bytes >= range.lowerBound else { throw "too small" }
            return ByteQuantity(bytes: bytes)
        }
    }
}

extension ArgumentReader<Duration> {
    /// A duration as policies write it, within a range.
    static func duration(_ range: ClosedRange<Duration>) -> Self {
        let bounds = "\(Self.text(of: range.lowerBound)) to \(Self.text(of: range.upperBound))"
        return ArgumentReader(
            accepted: "a duration from \(bounds), such as 90s, 2h or 1d12h", bounds: bounds, text: Self.text(of:)
        ) { text throws(ArgumentCause) in
            let duration = try Self.duration(text)
            guard duration >= range.lowerBound else { throw "too short" }
            guard duration <= range.upperBound else { throw "too long" }
            return duration
        }
    }

    /// A duration as policies write it.
    static func duration(_ text: String) throws(ArgumentCause) -> Duration {
        if text.isExactly("0") { return .zero }
        if let duration = YAMLNode.duration(text) { return duration }
        if text.utf8.first == UInt8(ascii: "-") { throw "negative" }
        if !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) { throw "a number without a unit" }
        guard let meant = DurationText.suggestion(for: text) else { throw "not a duration" }
        throw ArgumentCause("not a duration (did you mean \(meant)?)")
    }

    /// A duration in the largest unit that it is whole in.
    static func text(of duration: Duration) -> String {
        let units: [(name: String, length: Duration)] = [
            ("d", .seconds(86_400)), ("h", .seconds(3600)), ("m", .seconds(60)), ("s", .seconds(1)),
        ]
        for unit in units where duration >= unit.length {
            let count = (duration / unit.length).rounded()
            if duration == unit.length * Int(count) { return "\(Int(count))\(unit.name)" }
        }
        return duration == .zero ? "0" : "\(Int((duration / .milliseconds(1)).rounded()))ms"
    }
}
