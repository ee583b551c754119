package import AssayCore

/// The form of a section whose keys are known as values, not as a type: that of a plugin in another process.
package struct DeclaredShape: Sendable {
    /// The form of one value.
    package indirect enum Kind: Sendable {
        case text
        case integer(ClosedRange<Int64>)
        case boolean
        case duration
        case word([String])
        /// A reference to a secret.
        case secret
        case list(Kind)
        case mapping(DeclaredShape)
    }

    package struct Key: Sendable {
        package let name: String
        package let kind: Kind
        package let isRequired: Bool
        /// The meaning, in one sentence.
        package let summary: String

        package init(_ name: String, _ kind: Kind, isRequired: Bool, summary: String) {
            self.name = name
            self.kind = kind
            self.isRequired = isRequired
            self.summary = summary
        }
    }

    package let keys: [Key]

    package init(_ keys: [Key]) {
        self.keys = keys
    }

    /// The values of a mapping as JSON, in the order of the keys; durations are text in seconds, such as `300s`.
    ///
    /// Errors are reported to the sink of the value, and the value is left out.
    package func read(_ mapping: YAMLMapping) -> JSON {
        defer { mapping.finish() }
        return .object(
            keys.compactMap { key in
                let value = key.isRequired ? mapping.required(key.name) : mapping.optional(key.name)
                return value.flatMap { key.kind.read($0) }.map { JSONMember(key.name, $0) }
            })
    }

    var mayHoldSecret: Bool { keys.contains { $0.kind.mayHoldSecret } }
}

extension DeclaredShape.Kind {
    fileprivate func read(_ value: YAMLValue) -> JSON? {
        switch self {
        case .text: return value.decode(String.self).map { .string($0) }
        case .boolean: return value.decode(Bool.self).map { .bool($0) }
        case .duration:
            guard let duration = value.decode(Duration.self) else { return nil }
            guard duration >= .zero else {
                value.report("expected a duration of zero or more")
                return nil
            }
            return .string(duration.protoText)
        case .secret: return value.decode(SecretReference.self).map { .string($0.description) }
        case .integer(let range):
            guard let number = value.decode(Int64.self) else { return nil }
            guard range.contains(number) else {
                value.report("expected a number from \(range.lowerBound) to \(range.upperBound)")
                return nil
            }
            return .integer(number)
        case .word(let words):
            guard let word = value.decode(String.self) else { return nil }
            guard words.contains(exactly: word) else {
                let listed = words.prefix(20).map { "`\($0)`" }.joined(separator: ", ")
                value.report("expected one of \(listed)", hint: Spelling.hint(for: word, among: words))
                return nil
            }
            return .string(word)
        case .list(let element):
            return value.elements().map { .array($0.compactMap { element.read($0) }) }
        case .mapping(let shape):
            return value.mapping().map { shape.read($0) }
        }
    }

    fileprivate var mayHoldSecret: Bool {
        switch self {
        case .secret: true
        case .list(let element): element.mayHoldSecret
        case .mapping(let shape): shape.mayHoldSecret
        default: false
        }
    }
}

extension Duration {
    /// Seconds with up to nine digits behind the point, and `s`.
    fileprivate var protoText: String {
        let (seconds, attoseconds) = components
        let nanoseconds = attoseconds / 1_000_000_000
        guard nanoseconds > 0 else { return "\(seconds)s" }
        let digits = String(nanoseconds)
        return "\(seconds).\(String(repeating: "0", count: 9 - digits.utf8.count))\(digits)s"
    }
}
