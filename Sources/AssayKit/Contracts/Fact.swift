public import AssayCore

/// The name of something that a provider learned from evidence: `os_version`, `environment`.
public struct FactName: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name in lower_snake_case.
    @Exact public private(set) var text: String

    /// Makes a name.
    public init(_ text: String) {
        self.text = text
    }

    /// Makes a name from a literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// Same as ``text``.
    public var description: String { text }
}

/// Something that a provider learned from evidence: what policy rules and audit records read.
public struct Fact: Sendable, Hashable {
    /// The value of a fact.
    public enum Value: Sendable, Hashable {
        case text(String)
        case integer(Int64)
        case bool(Bool)
        case instant(Instant)

        /// Compares texts by their UTF-8 bytes.
        public static func == (left: Value, right: Value) -> Bool {
            switch (left, right) {
            case (.text(let left), .text(let right)): left.isExactly(right)
            case (.integer(let left), .integer(let right)): left == right
            case (.bool(let left), .bool(let right)): left == right
            case (.instant(let left), .instant(let right)): left == right
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
}

extension Fact.Value: CustomStringConvertible {
    /// The value as text, for logs and audit records.
    public var description: String {
        switch self {
        case .text(let text): text
        case .integer(let number): String(number)
        case .bool(let value): String(value)
        case .instant(let instant): instant.description
        }
    }
}
