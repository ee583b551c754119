/// The name of something that a provider learned from evidence: `os_version`, `environment`.
public struct FactName: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    @Exact public private(set) var text: String

    public init(_ text: String) {
        self.text = text
    }

    public init(stringLiteral value: String) {
        self.init(value)
    }

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

        public static func == (left: Value, right: Value) -> Bool {
            switch (left, right) {
            case (.text(let left), .text(let right)): left.isExactly(right)
            case (.integer(let left), .integer(let right)): left == right
            case (.bool(let left), .bool(let right)): left == right
            case (.instant(let left), .instant(let right)): left == right
            default: false
            }
        }

        public func hash(into hasher: inout Hasher) {
            description.hashExactly(into: &hasher)
        }
    }

    public let name: FactName
    public let value: Value

    public init(_ name: FactName, _ value: Value) {
        self.name = name
        self.value = value
    }
}

extension Fact.Value: CustomStringConvertible {
    public var description: String {
        switch self {
        case .text(let text): text
        case .integer(let number): String(number)
        case .bool(let value): String(value)
        case .instant(let instant): instant.description
        }
    }
}
