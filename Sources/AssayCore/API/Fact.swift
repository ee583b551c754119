/// The name of something that a provider learned from evidence: `os_version`, `environment`.
public struct FactName: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name in lower_snake_case.
    @Exact public private(set) var text: String
    /// The type of the values under this name; names are compared without it.
    public let type: FactType
    /// Whether values identify the attester, as the identifier of its key does.
    ///
    /// The deny list then also refuses tokens that were issued for it. One fact of a provider may, since a token has room for one.
    public let identifiesAttester: Bool

    /// Makes a name.
    public init(_ text: String, _ type: FactType = .text, identifiesAttester: Bool = false) {
        self.text = text
        self.type = type
        self.identifiesAttester = identifiesAttester
    }

    /// Makes a name from a literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// Same as ``text``.
    public var description: String { text }

    /// Compares the names, by their bytes.
    public static func == (left: FactName, right: FactName) -> Bool { left._text == right._text }

    /// Hashes the name, by its bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(_text) }
}

/// The type of a fact's values, which rules and records can rely on.
@nonexhaustive public enum FactType: Sendable, Hashable {
    /// Any text of at most 1 KiB.
    case text
    /// One of these texts.
    case words([ExactText])
    /// A whole number.
    case integer
    /// True or false.
    case bool
    /// A point in time.
    case instant
    /// A length of time.
    case duration
    /// Numbers joined by dots, such as `17.0.1`.
    case version
    /// A digest, as hexadecimal digits or Base 64.
    case digest

    /// Whether a value is of this type.
    public func admits(_ value: Fact.Value) -> Bool {
        switch (self, value) {
        case (.text, .text(let text)): text.utf8.count <= FactType.textLimit
        case (.words(let words), .text(let text)): words.contains(ExactText(text))
        case (.version, .text(let text)): FactType.isVersion(text)
        case (.digest, .text(let text)): FactType.isDigest(text)
        case (.integer, .integer), (.bool, .bool), (.instant, .instant), (.duration, .duration): true
        default: false
        }
    }

    /// The most bytes of a text.
    fileprivate static let textLimit = 1024

    private static func isVersion(_ text: String) -> Bool {
        guard text.utf8.count <= 64 else { return false }
        let parts = text.split(onASCII: ".")
        return !parts.isEmpty && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(\.isASCIIDigit) }
    }

    private static func isDigest(_ text: String) -> Bool {
        let others = Array("+/-_=".utf8)
        return (16...128).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                $0.isASCIILowercase || $0.isASCIIUppercase || $0.isASCIIDigit || others.contains($0)
            }
    }
}

/// Something that a provider learned from evidence: what policy rules and audit records read.
public struct Fact: Sendable, Hashable {
    /// The value of a fact.
    @nonexhaustive public enum Value: Sendable, Hashable {
        case text(String)
        case integer(Int64)
        case bool(Bool)
        case instant(Instant)
        case duration(Duration)

        /// Compares texts by their UTF-8 bytes.
        public static func == (left: Value, right: Value) -> Bool {
            switch (left, right) {
            case (.text(let left), .text(let right)): left.isExactly(right)
            case (.integer(let left), .integer(let right)): left == right
            case (.bool(let left), .bool(let right)): left == right
            case (.instant(let left), .instant(let right)): left == right
            case (.duration(let left), .duration(let right)): left == right
            default: false
            }
        }

        /// Hashes texts by their UTF-8 bytes.
        public func hash(into hasher: inout Hasher) {
            description.hashExactly(into: &hasher)
        }
    }

    /// What the value describes.
    public let name: FactName
    /// The value.
    public let value: Value

    /// Makes a fact.
    public init(_ name: FactName, _ value: Value) {
        self.name = name
        self.value = value
    }

    /// Makes a fact whose value is of the type that its name has; nil for any other value.
    ///
    /// For values from outside, such as what a request claims: a fact of another type is a fault of the plugin that states it.
    public init?(checking name: FactName, _ value: Value) {
        guard name.type.admits(value) else { return nil }
        self.init(name, value)
    }

    /// Makes a fact of text from outside, cut to the length that ``FactType/text`` admits.
    public init(_ name: FactName, cutting text: String) {
        guard text.utf8.count > FactType.textLimit else {
            self.init(name, .text(text))
            return
        }
        var kept = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= FactType.textLimit else { break }
            kept.append(scalar)
        }
        self.init(name, .text(String(kept)))
    }
}

extension Fact.Value: CustomStringConvertible {
    /// The value as text, for logs and audit records.
    public var description: String {
        switch self {
        case .text(let text): text
        case .integer(let number): String(number)
        case .bool(let value): String(value)
        case .instant(let instant): instant.description
        case .duration(let duration): "\(duration.wholeSeconds)s"
        }
    }
}
