internal import AssayCore

/// A value of a policy file, with its place.
package struct YAMLNode: Sendable {
    package enum Content: Sendable {
        /// Text; the requested type decides its meaning. Only plain (unquoted) text can be null, a number or a boolean.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        /// The pairs in the order of the file; the keys differ.
        case mapping([YAMLEntry])
    }

    package let content: Content
    package let source: YAMLSource
    let position: YAMLPosition
    /// After the last character; for a collection without brackets, the beginning of the next element.
    let end: YAMLPosition

    package var location: SourceLocation { source.location(position) }

    var isCollection: Bool {
        if case .scalar = content { false } else { true }
    }

    /// Keeps the value out of every excerpt.
    func conceal() {
        source.conceal(position..<max(position, end))
    }

    /// How many scalars it holds; itself, when it is one.
    package var valueCount: Int {
        switch content {
        case .scalar: 1
        case .sequence(let elements): elements.reduce(0) { $0 + $1.valueCount }
        case .mapping(let entries): entries.reduce(0) { $0 + $1.value.valueCount }
        }
    }

    /// Whether the value is `null`, `~` or nothing at all, unquoted.
    package var isNull: Bool {
        guard case .scalar(let text, isPlain: true) = content else { return false }
        return Self.isNull(text)
    }

    /// Whether no value was written.
    package var isAbsent: Bool {
        guard case .scalar(let text, isPlain: true) = content else { return false }
        return text.isEmpty
    }

    /// The pairs of a mapping, none for an omitted value; nil for all other values.
    package var entries: [YAMLEntry]? {
        if case .mapping(let entries) = content { return entries }
        return isAbsent ? [] : nil
    }

    /// The elements of a sequence; nil for all other values.
    package var elements: [YAMLNode]? {
        if case .sequence(let elements) = content { return elements }
        return nil
    }

    /// The value of a key of a mapping.
    package subscript(key: String) -> YAMLNode? {
        entries?.first { $0.key.isExactly(key) }?.value
    }

    /// The element of a sequence.
    package subscript(index: Int) -> YAMLNode? {
        guard let elements, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// YAML 1.2 core schema, section 10.3.2.
    static func isNull(_ text: String) -> Bool {
        text.isEmpty || ["~", "null", "Null", "NULL"].contains(exactly: text)
    }
}

/// A key of a mapping and its value.
package struct YAMLEntry: Sendable {
    package let key: String
    package let value: YAMLNode
    let keyPosition: YAMLPosition
    let keyEnd: YAMLPosition
    /// The file of the key: another one than the value's, if a shared definition was put in its place.
    let keySource: YAMLSource

    package var keyLocation: SourceLocation { keySource.location(keyPosition) }
}

/// A line and a column from 1, small because every node carries two.
struct YAMLPosition: Sendable, Hashable, Comparable {
    let line: UInt32
    let column: UInt32

    static let start = YAMLPosition(line: 1, column: 1)
    /// After all text.
    static let end = YAMLPosition(line: .max, column: 1)

    static func < (left: YAMLPosition, right: YAMLPosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}
