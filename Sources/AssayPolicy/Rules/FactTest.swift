package import AssayCore
internal import AssayYAML

/// How a rule compares a fact with a value.
enum Comparison: String, CaseIterable {
    case equal = "is"
    case different = "not"
    case among = "in"
    case notAmong = "not_in"
    case below
    case atMost = "at_most"
    case above
    case atLeast = "at_least"
    case known

    /// What it demands, for the schema.
    var words: String {
        switch self {
        case .equal: "The fact is this."
        case .different: "The fact is known and is not this."
        case .among: "The fact is one of these."
        case .notAmong: "The fact is known and is none of these."
        case .below: "The fact is below this."
        case .atMost: "The fact is this or below."
        case .above: "The fact is above this."
        case .atLeast: "The fact is this or above."
        case .known: "Whether the evidence tells the fact at all."
        }
    }

    /// Whether values must have an order.
    var needsOrder: Bool {
        switch self {
        case .below, .atMost, .above, .atLeast: true
        case .equal, .different, .among, .notAmong, .known: false
        }
    }
}

/// One test of a fact's value, which was read by the fact's type.
enum FactTest: Sendable {
    /// Whether the value is one of these.
    case among([ComparableFact], Bool)
    /// Whether the value is below another one, or at most that.
    case below(ComparableFact, orEqual: Bool)
    /// Whether the value is above another one, or at least that.
    case above(ComparableFact, orEqual: Bool)
    /// Whether there is a value.
    case known(Bool)

    /// - Parameter value: nil for a fact that the evidence does not tell: only `known: false` holds then.
    func holds(for value: ComparableFact?) -> Bool {
        guard let value else {
            if case .known(false) = self { return true }
            return false
        }
        return switch self {
        case .among(let values, let expected): values.contains(value) == expected
        case .below(let limit, let orEqual): value < limit || orEqual && value == limit
        case .above(let limit, let orEqual): limit < value || orEqual && value == limit
        case .known(let expected): expected
        }
    }
}

/// A fact's value in a form that can be compared: versions by their numbers.
enum ComparableFact: Sendable, Comparable {
    case text(ExactText)
    case integer(Int64)
    case bool(Bool)
    case instant(Instant)
    case duration(Duration)
    /// The numbers without leading zeros; zeros at the end do not count.
    case version([ExactText])

    /// Nil for a value that is not of the type.
    init?(_ value: Fact.Value, _ type: FactType) {
        guard type.admits(value) else { return nil }
        switch value {
        case .text(let text):
            self =
                switch type {
                case .version: .version(Self.parts(of: text))
                case .digest: .text(Self.digest(text))
                default: .text(ExactText(text))
                }
        case .integer(let number): self = .integer(number)
        case .bool(let value): self = .bool(value)
        case .instant(let instant): self = .instant(instant)
        case .duration(let duration): self = .duration(duration)
        }
    }

    /// A digest in one spelling: it may be written in hexadecimal, or in Base 64 with either alphabet.
    private static func digest(_ text: String) -> ExactText {
        let bytes = (hexadecimalDigests.contains(text.utf8.count) ? Hex.decode(text) : nil) ?? Base64.decode(text)
        return ExactText(bytes.map { Hex.encode($0) } ?? text)
    }

    /// The lengths of digests in hexadecimal: of 128, 160, 224, 256, 384 and 512 bits.
    private static let hexadecimalDigests = [32, 40, 56, 64, 96, 128]

    private static func parts(of version: String) -> [ExactText] {
        var parts = version.split(onASCII: ".").map {
            ExactText(String(decoding: $0.utf8.drop { $0 == UInt8(ascii: "0") }, as: UTF8.self))
        }
        while parts.last?.string.isEmpty == true { parts.removeLast() }
        return parts
    }

    /// Values of different kinds are in no order.
    static func < (left: ComparableFact, right: ComparableFact) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left < right
        case (.instant(let left), .instant(let right)): left < right
        case (.duration(let left), .duration(let right)): left < right
        case (.version(let left), .version(let right)):
            // Of numbers without leading zeros the longer one is larger.
            left.lexicographicallyPrecedes(right) { left, right in
                let (left, right) = (left.string, right.string)
                return left.utf8.count == right.utf8.count
                    ? left.precedesExactly(right) : left.utf8.count < right.utf8.count
            }
        default: false
        }
    }
}

extension FactType {
    /// Whether values of the type have an order.
    var isOrdered: Bool {
        switch self {
        case .integer, .instant, .duration, .version: true
        case .text, .words, .bool, .digest: false
        }
    }

    /// What a value of the type is called.
    package var words: String {
        switch self {
        case .text: "text"
        case .words(let words): "one of \(words.map { "`\($0)`" }.joined(separator: ", "))"
        case .integer: "a whole number"
        case .bool: "true or false"
        case .instant: "a time such as 2027-01-01T00:00:00Z"
        case .duration: "a duration such as 30d or 1h30m"
        case .version: "a version such as 26.2"
        case .digest: "a digest of 16 to 128 characters in hexadecimal or Base 64"
        }
    }
}
